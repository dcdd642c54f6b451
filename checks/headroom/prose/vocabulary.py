"""The words of comparative sentences, by what they do in one. Whoever misses a word adds it here, and nowhere else.

A category holds words and phrases with commas between them. A ``*`` stands for the endings of a regular verb. Which
categories make a comparison, alone or near one another, ``comparing.py`` says, and which unmake one, ``asserting.py``.
"""

from typing import Final

WORDS: Final = {
    # What a method can be better or worse in: speed, memory, size, traffic, energy, cost, quality.
    "dimension": """
        speed, speeds, throughput, throughputs, latency, latencies, time, load times, step times, compile times,
        startup times, turnaround times, runtime, runtimes, run time, duration, durations, pace, turnaround,
        wall-clock, walltime, milliseconds, tokens per second, steps per second, mfu, memory, vram, ram, hbm,
        footprint, footprints, peak, peaks, storage, disk space, bandwidth, traffic, communication, communications,
        transfer, transfers, round trips, synchronization, synchronisation, syncs, energy, power, electricity, heat,
        carbon, emissions, cost, costs, price, bill, money, budget, compute, computation, computations,
        calculations, flops, work, overhead, overheads, bottleneck, bottlenecks, penalty, penalties, recompute,
        recomputation, compilation, utilization, utilisation, occupancy, fragmentation, idle time, wait, waits,
        waiting, stall, stalls, bubble, bubbles, gap, gaps, start-up, startup, cold start, jitter, delay, delays,
        accuracy, perplexity, quality, convergence, stability, precision, performance, efficiency, scaling,
        scalability, recall, fidelity, final loss, validation loss, eval loss, score, scores, rounding error,
        rounding errors, numerical error, numerical errors, robustness, savings, requirements, resources, gpu hours,
        gpu-hours, gpu time, cpu time, benefit, memory use, memory usage, improvement, gain, gains
    """,
    # What takes memory or time, but is also talked of without any comparison: counts only after a word that compares.
    "object": """
        activations, gradients, logits, weights, states, optimizer states, cache, caches, copy, copies, padding,
        launches, kernel launch, kernel launches, launch, all-gather, all-gathers, all-reduces, recompilations,
        reads, writes, temporaries, loss, losses, size, sizes, bits, bytes, gigabytes, megabytes, buffers,
        computation
    """,
    # Says by itself that one is better or worse.
    "comparative": """
        faster, fastest, slower, slowest, quicker, quickest, cheaper, cheapest, costlier, leaner, thriftier,
        hungrier, speedier, speedup, speedups, speed-up, speed-ups, slowdown, slowdowns, slow-down, sooner, busier,
        more quickly, more slowly, faster than, longer than it saves, outperform*, outpace*, outrun, outruns,
        outran, outclass*, outstrip, outstrips, outweigh*, surpass*, beat, beats, beating, overtake, overtakes,
        overtook, eclipse*, trounce*, edges out, edge out, accelerates, accelerated inference, accelerating, speed
        up, speeds up, sped up, speeding up, slow down, slows down, slowed down, slowing down, slows, slowed,
        slowing, speedup*, speeds things up, slows things down, lag behind, lags behind, lags, lagged, fall behind,
        falls behind, fell behind, end up behind, ends up behind, far behind, percent behind, trails, trailed, ahead
        of, far ahead, pull ahead, pulls ahead, on par with, on par, on a par, neck and neck, keep up with, keeps up
        with, kept up with, more efficient, less efficient, most efficient, more efficiently, less efficiently, most
        efficiently, more expensive, most expensive, less expensive, less costly, more costly, more
        memory-efficient, most memory-efficient, less memory-efficient, more accurate, less accurate, more precise,
        less precise, most accurate, more performant, most performant, more economical, most economical, more
        optimal, most optimal, more stable, less stable, numerically stable, more robust, less robust, better
        choice, better option, best choice, best option, better use of, best of both worlds, more prone to, less
        prone to, more faithful, lossless, bit-identical, dead weight, pays for itself, pay for itself, paid for
        itself, pays off, pay off, paid off, net win, net loss, clear win, easy win, steady-state win, measured win,
        breaks even, break even, next to nothing, close to nothing, almost nothing, a fraction of, orders of
        magnitude, order of magnitude, no match for, far cry, all but vanish*, does nothing for, do nothing for, did
        nothing for, do not expect anything from, gains nothing, gain nothing, saves nothing, buys nothing, bought
        nothing, brings nothing, bought only, buys only, buys you, costs nothing, cost nothing, hardly pays, does
        not pay off, do not pay off, not worth, hardly worth, worth the, worth it, in vain, sit idle, sits idle, sat
        idle, wall-clock win, crawl, crawls, crawled, chokes, choke on, grinds to, painfully, prohibitively,
        needlessly, wasteful, memory hog, memory-hungry, hungry for memory, gentle on memory, shine, shines, shone,
        falls short, fall short, fell short, half as, twice as, twice what, by half, in half, almost in two, free
        lunch, for free, free of charge, at no cost, at no extra cost, at no additional cost, at little cost, at
        almost no cost, without a hitch, no sooner, no quicker, no later than, makes no difference, make no
        difference, made no difference, no measurable, as fast as, as slow as, as quick as, as quickly as, as cheap
        as, as good as, as accurate as, as well as full, as much as, as little as, as efficient as, as expensive as,
        as costly as
    """,
    # How much, near what it compares.
    "degree": """
        more, less, fewer, lower, higher, smaller, larger, bigger, greater, better, worse, best, worst, lowest,
        highest, smallest, largest, least, most, longer, shorter, tighter, lighter, heavier, reduced, increased,
        improved, additional, extra, another, added, significant, considerable, substantial, massive, huge,
        enormous, negligible, little, excessive, minimal, needless, unnecessary, poor, great, excellent, superior,
        inferior, comparable, noticeable, measurable, marginal, limited, optimal, fast, slow, cheap, expensive,
        efficient, costly, mere, deterministic
    """,
    # After "is": says of what stands before it that it is better or worse.
    "rank": """
        more, less, lower, higher, smaller, larger, bigger, greater, better, worse, best, worst, lowest, highest,
        smallest, largest, longer, shorter, tighter, lighter, heavier, halved, doubled, tripled, reduced, unchanged,
        unaffected, constant, flat, the same, identical, negligible, comparable, double, half, twice, superior,
        inferior, limited, optimal, steady, excellent, poor, near
    """,
    # What a method does to a dimension.
    "change": """
        saves, saved, saving, save, reduces, reduced, reducing, reduce, cut, cuts, cutting, halve*, lowers, lowered,
        lowering, decrease*, shrink, shrinks, shrank, shrinking, trim*, trimmed, trimming, shave*, slash*, lessen*,
        pare*, minimize*, minimise*, maximize*, maximise*, improve*, increase*, boost*, raise*, enhance*, double*,
        triple*, tripled, quadruple*, quarter*, adds, added, adding, add, introduces, introduce, introducing,
        incur*, incurred, incurring, costs, costing, can cost, could cost, may cost, might cost, will cost, would
        cost, cost nothing, frees, freed, freeing, free up, spare*, waste*, avoid*, prevent*, eliminate*, remove*,
        skips, skipped, skipping, hides, hid, hiding, hide, loses, lost, losing, lose, gains, gained, preserve*,
        shortens, shortened, prolong*, lengthen*, shorten*, delay*, maintain*, retain*, hurts, hurt, hurting, harm*,
        degrade*, damage*, worsen*, benefit*, optimizes, optimize, optimise*, optimizing, bounds, caps, capped,
        squeeze*, stretches, amortise*, amortize*, bring down, brings down, brought down, bring, brings, brought,
        bringing, take off, takes off, took off, take up, takes up, took up, wins, won, eats, ate, eating, eat up,
        eats up, gives up, gave up, giving up, give up, sacrifice*, relieve*, alleviate*, mitigate*, consume*,
        offset, offsets, compress*, conserve*, recovers, regain*, restores, unlock*, pays, paid, paying, pay, helps,
        helped, helping, help, ease*, tame*, dwarf*, limits, impair*, impede*, hamper*, erode*, touches, touched,
        touch, spends, spend, spent, hog*, gobble*, devour*, burn*, reclaim*, release*, ties up, multiplies,
        multiplied, inflate*, bloat*, trade*, exceeds, matches, matched, divides, affects, affect, closes, close,
        forfeit*, sheds, shed, dodges, sidesteps
    """,
    # The same of what shrinks or goes away with it.
    "reduce": """
        reduces, reduced, reducing, reduce, cuts, halve*, lowers, lowering, decrease*, shrink, shrinks, shrank,
        shrinking, trims, trimmed, slash*, quarters, quartered, spare*, spared, sparing, avoid*, avoids, eliminate*,
        double*, triple*, wastes, never materialises, never materializes, without materialising, without
        materializing, never writing, skips, doubles, speeds, inflates, bounds, compresses, without ever writing
    """,
    # What a dimension does by itself.
    "shift": """
        falls, fell, fall, falling, drops, dropped, drop, shrinks, shrank, shrink, grows by, rises, rose, climbs,
        climbed, jumps, jumped, soars, plummets, plummeted, plunges, swells, balloons, explodes, dips, sinks, sank,
        doubles, doubled, halves, halved, triples, tripled, quadruples, quadrupled, improves, improved, worsens,
        worsened, degrades, degraded, deteriorates, suffers, suffered, suffer, increases, increased, decreases,
        decreased, collapses, collapsed, saturates, goes up, goes down, went up, went down, go down, go up, goes
        away, went away, disappears, disappear, disappeared, vanishes, vanish, vanished, levels off, stays, stay,
        stayed, remains, remain, remained, is halved, are halved, is doubled, comes down, came down, drowns,
        evaporates, becomes, became, moves, budges, is gone, are gone, survives
    """,
    # A verdict on a method, after "is".
    "verdict": """
        fast, slow, quick, cheap, expensive, costly, efficient, inefficient, memory-efficient, optimal, suboptimal,
        performant, lightweight, worthwhile, beneficial, free, negligible, economical, a bottleneck, the bottleneck,
        compute-efficient, communication-efficient, cost-effective, sluggish, lossy, unstable, overkill, a mistake,
        a waste, prohibitive, unaffordable, affordable, a tax, a win, pointless, competitive, behind, ahead,
        critical for, hard on, quite accurate, wasted, useless, lost, tight, nearly free, within noise, the same
        thing
    """,
    "copula": """
        is, are, was, were, be, been, being, becomes, become, became, remains, remain, stays, stay, gets, seems,
        proves, proved, makes, make, it's, isn't, aren't
    """,
    # "no loss", "without extra memory", "the same speed"
    "none": """
        no, without, zero, hardly any, hardly, barely, nearly no, almost no, without any
    """,
    "same": """
        same, identical, equal, equally, equivalent, comparable, similar, unchanged
    """,
    "merit": """
        speed, throughput, latency, memory, memory usage, peak memory, footprint, time, cost, costs, overhead,
        penalty, slowdown, loss, final loss, accuracy, perplexity, quality, convergence, precision, performance,
        degradation, runtime, gain, gains, advantage, speedup, speedups, traffic, communication, bandwidth,
        recompute, energy, compute, loss curve, pace, efficiency, stall, stalls, wait, savings, degrading, losing,
        hurting, sacrificing, slowing, affecting, compromising, regression, good, fast, cheap, price, difference,
        noticeable, measurable, result, results, bits, change in, disk space, hit, scores, outcome, peak
    """,
    # Something is given for something else.
    "trade": """
        at the cost of, at the price of, at the expense of, in exchange, in return, trade-off, tradeoff, trade-offs,
        trade off, trades off, trading off, compromise between, strikes a balance, gives up some, in return for,
        hand over fist, pay with, pays with, paid with, paying with, bought with, buy, bargain
    """,
    "trading": """
        trade, trades, trading, traded, exchange, exchanges, swap, swaps, buy, buys, bought
    """,
    "for": """
        for, against, with
    """,
    # What a method makes possible.
    "enable": """
        let, lets, letting, allows, allow, allowing, enables, enable, enabling, make it possible, makes it possible,
        becomes possible, made possible, help you, helps you, can fit, could fit, fits, fit, fitted, fit into, can
        train, can run, can scale, would not fit, does not fit, do not fit, makes room, make room, leaves room,
        trains, fine-tunes, scales to, scaling to, scale to, scale your, scaling potentially to, handles, handle,
        unlocks, squeezes, squeeze, needs only, get by, gets by, runs, run
    """,
    "capacity": """
        larger batch, larger batches, bigger batch, bigger batches, larger batch sizes, bigger batch sizes, larger
        micro-batches, effective batch size, larger model, larger models, bigger models, bigger model, longer
        sequences, longer sequence, longer contexts, longer context, long sequences, larger contexts, one gpu, a
        single gpu, single gpu, a single card, single card, one card, single device, one device, consumer card,
        consumer cards, consumer gpu, consumer gpus, one node, a laptop, laptops, million tokens, sequence length,
        sequence lengths, context size, context length, more requests, more sequences, more users, beyond the
        limitations, any one of them, one 24 gb card, free tier, small cards, existing hardware
    """,
    "shortage": """
        out-of-memory, oom, ooms, out of memory, out-of-memory error, out-of-memory errors
    """,
    "escape": """
        survive*, avoid*, prevent*, cure*, fixes, ends, rescue*, stop*, causes, cause, trigger, triggers, goes, go,
        runs, run, ran
    """,
    "fraction": """
        half, third, thirds, quarter, quarters, fifth, fifths, tenth, eighth, twice, thrice, double, triple, times
        as, times more, times less, times the, two times, three times, four times, five times, ten times, a hundred
        times
    """,
    "contrast": """
        instead of, against, versus, vs, whereas, where, while, became, down from, down to, up from, rather than,
        compared to, compared with, than, the other, the others, in place of, but, over, without, not
    """,
    "either": """
        and, to, or, from, with, by, on, after, before, for
    """,
    # Words that open an instruction.
    "imperative": """
        use, try, set, enable, disable, increase, decrease, reduce, lower, raise, run, call, pass, choose, pick,
        keep, make, install, accelerate, speed, boost, improve, cut, save, shrink, free, get, add, remove, replace,
        move, put, load, write, read, see, refer, check, measure, compare, count, profile, turn, switch, enter,
        return, retry, mind, start, stop, avoid, consider, prefer, ensure, note, remember, learn, let's, go, visit,
        follow, take, apply, wrap, import, schedule, rent, buy, leverage, feel, define, create, build, select,
        specify, change, adjust, tune, limit, freeze, merge, split, export, estimate, expect, give, leave, look,
        trade, find, exploit, utilize, employ, adopt, open, skip, explore, test, verify, do, don't, never, always,
        combine, train, fine-tune, pin, cast, convert, download, shard, place, launch, configure, begin, continue,
        ask, upgrade, update, watch, monitor, benchmark, experiment, provide, initialize, initialise, prepare,
        activate, assign, calculate, compute, decide, determine, divide, double, halve, lead, mark, order, sweep,
        warm, weigh, wait, drop, evaluate, execute, focus, group, identify, inspect, log, maximize, minimize,
        maximise, minimise, optimize, optimise, pad, plan, pre-allocate, quantize, quantise, record, rely, repeat,
        report, restart, review, scale, share, sort, store, stick, think, trim, truncate, aim, balance, batch, cap,
        compile, offload, overlap, play, tell, treat
    """,
    "lead-in": """
        please, then, also, next, finally, instead, first, second, third, now, simply, just, otherwise, so, and, or,
        but, optionally, alternatively, again, later, afterwards, similarly, lastly, therefore, thus, e.g, ideally,
        usually, generally
    """,
    "reason": """
        because, since, which, whose, as it, as they, as this, as that, so it, it, this, they, that, we, in which
        case, hence, so that it
    """,
    # What makes of a clause no assertion.
    "condition": """
        if, whether, unless, in case, provided that, assuming, suppose, until, even if, how, as long as you,
        wherever, once you, so long as, supposing
    """,
    "sought": """
        how to, ways to, want to, wants to, wish to, hope to, trying to, aim to, aims to, goal is to, have to, like
        to, asked to, methods to, techniques to, tips to, tools to, options to, strategies to, approaches to,
        attempts to, attempt to, intended to, ask for, ask whether, tips for, methods for, strategies for, should
        not, must, you should, should determine, should stay, should use, should set, can try, could try, it is
        recommended, is recommended, need to, needs to, interested in, want more, looking for, in search of, prefer
        to, request, requests for
    """,
    "unknown": """
        we do not know, do not know, nobody has, nobody knows, not been measured, is unknown, unclear, not known,
        remains to be seen, depends on, depend on, depending on, varies with, remains open, not measured, open
        question, no one has, has yet to be, we have not, yet compared, we did not measure, hard to predict, cannot
        say
    """,
    "announcement": """
        this guide, this page, this section, this document, this documentation, this tutorial, this chapter, this
        post, this article, this notebook, this table, this example shows, the following, next section, part one,
        part two, part three, part four, in this guide, in this section, in this page, in this tutorial, in this
        chapter, in this post, the guide, the guides, the rest of, is covered, are covered, is described, are
        described, is explained, are explained, are listed, is listed, is discussed, are discussed, is documented,
        are documented, what follows, table below, table above, the plot, the plots, in the plots, in the plot,
        figure shows, are shown, is shown, you will learn, you'll learn, we cover, we describe, we'll, we show how,
        let us, we discuss, we will, we explain, read more, learn more, more details, for details, more information,
        see also, covers, deals with, describes, discusses, explains, lists which, the axis, left axis, right axis,
        our goal, section on, chapter on, page on, guide on, guide to
    """,
    "definition": """
        stands for, stand for, short for, is called, are called, is defined as, are defined as, refers to, refer to,
        known as, is the number, is the time, is the amount, is the size, is the sum, is the ratio, is the share, is
        what, is given in, are given in, is its, is the product, is the difference, is the fraction, means that,
        means the, is the unit, is measured in, are measured in, is written to, less is better, lower is better,
        higher is better, more is better, smaller is better, is a measure, defined by, is expressed, says how, tells
        how, tell how, counts how, measures how, is a metric, is a callback
    """,
    # Names and turns of speech that hold such a word and compare nothing.
    "name": """
        memory-efficient attention, memory efficient attention, efficient attention, fast tokenizer, fast
        tokenizers, low-rank adaptation, parameter-efficient fine-tuning, parameter-efficient, mixed precision, half
        precision, full precision, single precision, double precision, low precision, lower-level, low-level,
        higher-level, high-level, higher-order, performance counters, performance counter, performance tuning,
        performance mode, efficiency report, at least, at most, best effort, best practice, best practices,
        best-effort, memory module, loss scaling, loss scale, cost function, loss function, training loss, real
        time, real-time, time step, time steps, first time, second time, last time, next time, each time, every
        time, same time, this time, at a time, some time, over time, in time, long time, time limit, time out, point
        in time, more than one, more than two, scaling factor, or higher, or later, or newer, or more, or less,
        lower case, more likely, less likely, more about, most common, most commonly, most often, more often, more
        details, more information, more detail, double check, double quantization, double quantisation, double
        buffering, power of two, powers of two, power of 2, power supply, work with, works with, work of, in place,
        full name, higher version, higher versions, lower bound, upper bound, lower half, upper half, second half,
        first half, memory bound, compute bound, fast path, slow path, fast fourier, quick start, quickstart, quick
        tour, time series, cost model, score function, attention scores, attention score, padding token, tokenizer,
        flash memory, memory layout, memory format, memory map, memory-mapped, memory pool, more and more, once
        more, no more, any more, not only, no longer, better understanding, most of them, best known, state of the
        art, other half, half of them, half of the, slower of, faster of, larger of, smaller of, lower of, higher
        of, better of, quality control, power user, at this time, work in progress
    """,
    # A size of the work, not of a method: larger models need more memory whatever the method.
    "workload": """
        model, models, prompt, prompts, sequence, sequences, context, contexts, input, inputs, image, images, text,
        texts, document, documents, dataset, datasets, vocabulary, vocabularies, experts, tokens, layers,
        parameters, network, networks, video, videos, answers, outputs, transformer, transformers, llm, llms,
        resolution, resolutions, files, corpus, corpora
    """,
    "size": """
        larger, bigger, longer, smaller, shorter, more, large, big, long, small, short, higher, deeper, wider, huge,
        billion
    """,
}
