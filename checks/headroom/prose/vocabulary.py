"""The words that make a sentence comparative, by what they do in it. Whoever misses one adds it here, and nowhere else.

A category holds words and phrases with commas between them. A ``*`` stands for the endings of a regular verb. Which
categories make a comparison, alone or near one another, ``comparing.py`` says. ``exclusions.py`` has what unmakes one.
"""

from typing import Final

COMPARED: Final = {
    # What a method can be better or worse in: speed, memory, size, traffic, energy, cost, quality.
    "dimension": """
        microseconds, concurrent users, requests per second, tokens per dollar, spikes, memory spikes, scaling
        efficiency, all-reduce times, cpu cores, convergence speed, load time, downtime, warm-up time, communication
        volume, response time, response times, io, i/o, swapping, dispatch overhead, speed, speeds, throughput,
        throughputs, latency, latencies, time, load times, step times, compile times, startup times, turnaround
        times, runtime, runtimes, run time, duration, durations, pace, turnaround, wall-clock, walltime,
        milliseconds, tokens per second, steps per second, mfu, memory, vram, ram, hbm, footprint, footprints, peak,
        peaks, storage, disk space, bandwidth, traffic, communication, communications, transfer, transfers, round
        trips, synchronization, synchronisation, syncs, energy, power, electricity, heat, carbon, emissions, cost,
        costs, price, bill, money, budget, compute, computation, computations, calculations, flops, work, overhead,
        overheads, bottleneck, bottlenecks, penalty, penalties, recompute, recomputation, compilation, utilization,
        utilisation, occupancy, fragmentation, idle time, wait, waits, waiting, stall, stalls, bubble, bubbles, gap,
        gaps, start-up, startup, cold start, jitter, delay, delays, accuracy, perplexity, quality, convergence,
        stability, precision, performance, efficiency, scaling, scalability, recall, fidelity, final loss,
        validation loss, eval loss, score, scores, rounding error, rounding errors, numerical error, numerical
        errors, robustness, savings, requirements, resources, gpu hours, gpu-hours, gpu time, cpu time, memory use,
        memory usage, improvement, gain, gains, performances, arithmetic intensity, memory access, ttft, itl, tpot,
        qps, wer, bleu, fid, host memory, speed gains, extrapolation, generalization, generalisation, memory
        consumption, power consumption, energy consumption, gpu utilization, accuracies, speed-accuracy
    """,
    # What takes memory or time, but is also talked of without any comparison: counts only after a word that compares.
    "object": """
        cpu cores, cores, cards, gpus, memory spikes, round trips, all-reduce, communication rounds, buffers,
        tensor, tensors, activations, gradients, logits, weights, states, optimizer states, cache, caches, copy,
        copies, padding, launches, kernel launch, kernel launches, launch, all-gather, all-gathers, all-reduces,
        recompilations, reads, writes, temporaries, loss, losses, size, sizes, bits, bytes, gigabytes, megabytes,
        computation, benefit, benefits, advantage, advantages, degradation, drop
    """,
    # Says by itself that one is better or worse.
    "comparative": """
        winner, clear winner, in the dust, holds its own, hold their own, held its own, budget option, dearer, far
        better, much better, better than, worse than, copes better, performs alike, perform alike, perform better,
        performs better, perform worse, performs worse, converges worse, converges better, converged just like,
        converges just like, behaves just like, did not help, does not help, do not help, any difference in, tell
        apart, tell the, indistinguishable, feasible, by a factor of, as quickly, gets by with, get by with, nothing
        to be gained, wins, killer, recipe for, every last drop, barely usable, unusable, poorly, takes the pressure
        off, barely any, every bit, saturates, saturate the gpu, starved, starves, idle most of, at full speed, full
        speed, takes time, take time, takes a while, takes forever, takes longer, take longer, took longer, takes
        ages, keeps up, keep up, kept up, linear speedup, arrives later, half the size, undercut, undercuts, outdo,
        outdoes, come out on top, comes out on top, come close to, comes close to, came close to, close the gap,
        closes the gap, rivals, stands no chance, overpriced, bargain, cost-efficient, no recompilation, wear out,
        was worth, well spent, dominates, dominate, makes sense only, only pays, pays only, shines, brings nothing,
        brought nothing, loses out, rules out, drowns, blows up, blow up, blew up, explodes, explode, exploded,
        kills, cripples, crippled, bogs down, bogged down, tanks, tanked, halts, within reach, without breaking a
        sweat, effortlessly, sluggishly, in a fraction, instantly, instantaneous, instead of hours, instead of
        minutes, instead of days, faster, fastest, slower, slowest, quicker, quickest, cheaper, cheapest, costlier,
        leaner, thriftier, hungrier, speedier, speedup, speedups, speed-up, speed-ups, slowdown, slowdowns,
        slow-down, sooner, busier, more quickly, more slowly, faster than, longer than it saves, outperform*,
        outpace*, outrun, outruns, outran, outclass*, outstrip, outstrips, outweigh*, surpass*, beat, beats,
        beating, overtake, overtakes, overtook, eclipse*, trounce*, edges out, edge out, accelerates, accelerated
        inference, accelerating, speed up, speeds up, sped up, speeding up, slow down, slows down, slowed down,
        slowing down, slows, slowed, slowing, speedup*, speeds things up, slows things down, lag behind, lags
        behind, lags, lagged, fall behind, falls behind, fell behind, end up behind, ends up behind, far behind,
        percent behind, trails, trailed, ahead of, far ahead, pull ahead, pulls ahead, on par with, on par, on a
        par, neck and neck, keep up with, keeps up with, kept up with, more efficient, less efficient, most
        efficient, more efficiently, less efficiently, most efficiently, more expensive, most expensive, less
        expensive, less costly, more costly, more memory-efficient, most memory-efficient, less memory-efficient,
        more accurate, less accurate, more precise, less precise, most accurate, more performant, most performant,
        more economical, most economical, more optimal, most optimal, more stable, less stable, numerically stable,
        more robust, less robust, better choice, better option, best choice, best option, better use of, best of
        both worlds, more prone to, less prone to, more faithful, lossless, bit-identical, dead weight, pays for
        itself, pay for itself, paid for itself, pays off, pay off, paid off, net win, net loss, clear win, easy
        win, steady-state win, measured win, breaks even, break even, next to nothing, close to nothing, almost
        nothing, a fraction of, orders of magnitude, order of magnitude, no match for, far cry, all but vanish*,
        does nothing for, do nothing for, did nothing for, do not expect anything from, gains nothing, gain nothing,
        saves nothing, buys nothing, bought nothing, bought only, buys only, buys you, costs nothing, cost nothing,
        hardly pays, does not pay off, do not pay off, not worth, hardly worth, worth the, worth it, in vain, sit
        idle, sits idle, sat idle, wall-clock win, crawl, crawls, crawled, chokes, choke on, grinds to, hurt, hurts,
        hurting, throttle*, waste*, wasting, a tax, needless tax, painfully, prohibitively, needlessly, wasteful,
        memory hog, memory-hungry, hungry for memory, gentle on memory, shine, shone, falls short, fall short, fell
        short, half as, twice as, twice what, almost in two, free lunch, for free, free of charge, at no cost, at no
        extra cost, at no additional cost, at little cost, at almost no cost, without a hitch, no sooner, no
        quicker, no later than, makes no difference, make no difference, made no difference, no measurable, as fast
        as, as slow as, as quick as, as quickly as, as cheap as, as good as, as accurate as, as well as full, as
        much as, as little as, as efficient as, as expensive as, as costly as, avoids materializing, avoid
        materializing, avoids materialising, inefficient, inefficiently, of the space, of the size, communication
        efficient, compute efficient, very long time, a long time, likely better, good choice, better suited, better
        fit, bottlenecked, bottlenecks, nearly linearly, scales linearly, scale linearly, linear scaling, for the
        money, eat up, eats up, ate up, possible on, accuracy degradation, performance degradation, quality
        degradation, quality loss, accuracy loss, loss of quality, loss of accuracy, loss in accuracy, drop in
        accuracy, much less, far less, far more efficient
    """,
    # How much, near what it compares.
    "degree": """
        redundant, high, low, good, bad, strong, weak, fastest, slowest, cheapest, noticeably, more, less, fewer,
        lower, higher, smaller, larger, bigger, greater, better, worse, best, worst, lowest, highest, smallest,
        largest, least, longer, shorter, tighter, lighter, heavier, reduced, increased, improved, additional, extra,
        another, added, significant, considerable, substantial, massive, huge, enormous, negligible, little,
        excessive, minimal, needless, unnecessary, poor, great, excellent, superior, inferior, comparable,
        noticeable, measurable, marginal, limited, optimal, of what it, of what, between them, fast, slow, cheap,
        expensive, efficient, costly, mere, deterministic, appreciable, notable, sizeable, sizable, modest, slight,
        tiny, optimized, optimised, near-zero, inefficient
    """,
    # After "is": says of what stands before it that it is better or worse.
    "rank": """
        linear, quadratic, sublinear, low, high, good, bad, intact, tiny, idle, gone, excellent, dearer, on par,
        prohibitive, untouched, no longer, faster, slower, cheaper, more, less, lower, higher, smaller, larger,
        bigger, greater, better, worse, best, worst, lowest, highest, smallest, largest, longer, shorter, tighter,
        lighter, heavier, halved, doubled, tripled, reduced, unchanged, unaffected, constant, flat, the same,
        identical, negligible, comparable, double, half, twice, superior, inferior, limited, optimal, steady, poor,
        near, minimized, minimised, eliminated, avoided, hidden, improved, increased, lowered, cut
    """,
    # How strongly something changes, whatever it is.
    "strongly": """
        drastically, significantly, dramatically, substantially, considerably, noticeably, markedly, sharply,
        greatly, massively, severely
    """,
    # Most of something is gone, or counts in another number.
    "bulk": """
        most of, nearly all, almost all, the bulk of, half of, all of the, two thirds of, a third of, the lion's
        share
    """,
    "instead": """
        instead of, rather than, in place of, as opposed to, down from
    """,
    "numeral": """
        one, two, three, four, five, six, seven, eight, nine, ten, a dozen, hundreds, thousands, half, quadratic,
        quadratically
    """,
    # What is fast or slow as such.
    "quick": """
        fast, efficient, slow, cheap, expensive, memory-efficient, costly, inefficient, high-throughput,
        low-latency, memory-saving
    """,
    "thing": """
        method, methods, process, implementation, implementations, kernel, kernels, algorithm, algorithms,
        alternative, alternatives, format, formats, optimizer, quantization, fallback, operation, operations,
        solution, backend, decoding, technique
    """,
    # What a method does to a dimension.
    "change": """
        blows up, blow up, kill*, overlaps, does away with, do away with, evens out, even out, multiplied, wrecks,
        wreck, ruin*, destroy*, drives up, drives down, drive up, drive down, push up, pushes up, pushes down, keeps
        down, keep down, brings up, wipes out, wipe out, makes up for, swallow*, drain*, absorb*, guzzles, guzzle,
        curb*, curtail*, economises, economizes, ditches, knocks off, knock off, knocked off, slices, sliced, chops,
        chopped, cripple*, compromise*, jeopardise*, trades, speeds, lift, lifts, lifted, stabilises, stabilizes,
        stabilise, stabilize, destabilises, destabilizes, took, flatten*, takes up, makes better, worsen, saves,
        saved, saving, save, reduces, reduced, reducing, reduce, cut, cuts, cutting, halve*, lowers, lowered,
        lowering, decrease*, shrink, shrinks, shrank, shrinking, trim*, trimmed, trimming, shave*, slash*, lessen*,
        pare*, minimize*, minimise*, maximize*, maximise*, improve*, increase*, boost*, raise*, enhance*, double*,
        triple*, tripled, quadruple*, quarter*, adds, added, adding, add, introduces, introduce, introducing,
        incur*, incurred, incurring, costs, costing, can cost, could cost, may cost, might cost, will cost, would
        cost, cost nothing, frees, freed, freeing, free up, spare*, waste*, avoid*, prevent*, eliminate*, remove*,
        skips, skipped, skipping, hides, hid, hiding, hide, loses, lost, losing, lose, gains, gained, preserve*,
        shortens, shortened, prolong*, lengthen*, shorten*, delay*, maintain*, retain*, hurts, hurt, hurting, harm*,
        degrade*, damage*, worsen*, benefit*, optimizes, optimize, optimise*, optimizing, bounds, caps, capped,
        squeeze*, stretches, amortise*, amortize*, bring down, brings down, brought down, brought, bringing, take
        off, takes off, took off, take up, took up, wins, won, eats, ate, eating, eat up, eats up, gives up, gave
        up, giving up, give up, sacrifice*, relieve*, alleviate*, mitigate*, consume*, offset, offsets, compress*,
        conserve*, recovers, regain*, restores, unlock*, pays, paid, paying, pay, helps, helped, helping, help,
        ease*, tame*, dwarf*, limits, impair*, impede*, hamper*, erode*, touches, touched, touch, spends, spend,
        spent, hog*, gobble*, devour*, burn*, ties up, multiplies, inflate*, bloat*, trade*, exceeds, matches,
        matched, divides, affects, affect, closes, close, forfeit*, sheds, shed, dodges, sidesteps, penalize*,
        penalise*
    """,
    # The same of what shrinks or goes away with it.
    "reduce": """
        removes, remove*, removed, removing, frees, freed, freeing, skip, dispenses with, does without, do without,
        gets rid of, get rid of, makes do with, make do with, saves, saved, adds, reduces, reduced, reducing,
        reduce, cuts, halve*, lowers, lowering, decrease*, shrink, shrinks, shrank, shrinking, trims, trimmed,
        slash*, quarters, quartered, spare*, spared, sparing, avoid*, avoids, eliminate*, double*, triple*, wastes,
        never materialises, never materializes, without materialising, without materializing, never writing, skips,
        doubles, speeds, inflates, bounds, compresses, without ever writing, minimize*, minimise*
    """,
    # Before a time.
    "take": """
        take, takes, took, taking, needs, need, needed, in, within, lasts, lasted
    """,
    # What a dimension does by itself.
    "shift": """
        degrade, decreases, swell, deteriorate, diverges, explodes, falls, fell, fall, falling, drops, dropped,
        drop, shrinks, shrank, shrink, grows by, rises, rose, climbs, climbed, jumps, jumped, soars, plummets,
        plummeted, plunges, swells, balloons, dips, sinks, sank, doubles, doubled, halves, halved, triples, tripled,
        quadruples, quadrupled, improves, improved, worsens, worsened, degrades, degraded, deteriorates, suffers,
        suffered, suffer, increases, increased, decreased, collapses, collapsed, saturates, goes up, goes down, went
        up, went down, go down, go up, goes away, went away, disappears, disappear, disappeared, vanishes, vanish,
        vanished, levels off, stays, stay, stayed, remains, remain, remained, is halved, are halved, is doubled,
        comes down, came down, drowns, evaporates, moves, budges, is gone, are gone, survives, spike, spikes, spiked
    """,
    # A verdict on a method, after "is".
    "verdict": """
        idle, ineffective, feasible, infeasible, possible on, impractical, practical only, dear, poor, ideal for,
        suited for speed, the winner, the slowest, the fastest, harmless, harmful, cheap enough, fast enough, too
        slow, too expensive, quite slow, wasteful, unbeatable, unusable, hopeless, a burden, a drag, a killer, a
        luxury, a loss, at its best, at its worst, fast, slow, quick, cheap, expensive, costly, efficient,
        inefficient, memory-efficient, optimal, suboptimal, performant, lightweight, worthwhile, beneficial, free,
        negligible, economical, a bottleneck, the bottleneck, compute-efficient, communication-efficient,
        cost-effective, sluggish, lossy, unstable, overkill, a mistake, a waste, prohibitive, unaffordable,
        affordable, a tax, a win, pointless, competitive, behind, ahead, critical for, hard on, quite accurate,
        wasted, useless, tight, nearly free, within noise, the same thing, memory efficient, parameter efficient
    """,
    "copula": """
        is, are, was, were, be, been, being, becomes, become, became, remains, remain, stays, stay, gets, seems,
        proves, proved, makes, make, it's, isn't, aren't
    """,
    # "no loss", "without extra memory", "the same speed"
    "none": """
        no, without, zero, hardly any, hardly, barely, nearly no, almost no, without any, near-zero
    """,
    "same": """
        same, identical, equal, equally, equivalent, comparable, similar, unchanged
    """,
    "merit": """
        recompilation, recompilations, extra, additional, measurable, noticeable, visible, quality loss, accuracy
        loss, loss of, drop in, drop, cost in, decrease in, increase in, impact on, penalty in, trade-off,
        compromise, copying, copy, communication, speed, throughput, latency, memory, memory usage, peak memory,
        footprint, time, cost, costs, overhead, penalty, slowdown, loss, final loss, accuracy, perplexity, quality,
        convergence, precision, performance, degradation, runtime, gain, gains, advantage, speedup, speedups,
        traffic, bandwidth, recompute, energy, compute, loss curve, pace, efficiency, stall, stalls, wait, savings,
        degrading, losing, hurting, sacrificing, slowing, affecting, compromising, regression, good, fast, cheap,
        price, difference, result, results, bits, change in, disk space, hit, scores, outcome, peak
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
        makes, make, possible, feasible, serves, serve, host, hosts, possible on, let, lets, letting, allows, allow,
        allowing, enables, enable, enabling, make it possible, makes it possible, becomes possible, made possible,
        help you, helps you, can fit, could fit, fits, fit, fitted, fit into, can train, can run, can scale, makes
        room, make room, leaves room, trains, fine-tunes, scales to, scaling to, scale to, scale your, scaling
        potentially to, handles, handle, unlocks, squeezes, squeeze, needs only, get by, gets by, runs, run
    """,
    "capacity": """
        a laptop, on a laptop, phone, on a phone, on 8 gb, on a raspberry pi, twice the batch, concurrent users,
        concurrent requests, more users, twice as many, several models, whole model, one server, larger batch,
        larger batches, bigger batch, bigger batches, larger batch sizes, bigger batch sizes, larger micro-batches,
        effective batch size, larger model, larger models, bigger models, bigger model, longer sequences, longer
        sequence, longer contexts, longer context, long sequences, larger contexts, one gpu, a single gpu, single
        gpu, a single card, single card, one card, single device, one device, consumer card, consumer cards,
        consumer gpu, consumer gpus, one node, laptops, million tokens, sequence length, sequence lengths, context
        size, context length, more requests, more sequences, beyond the limitations, any one of them, one 24 gb
        card, free tier, small cards, existing hardware, twice the context, twice the users, double the batch,
        higher resolution, higher resolutions
    """,
    "shortage": """
        out-of-memory, oom, ooms, out of memory, out-of-memory error, out-of-memory errors
    """,
    "escape": """
        survive*, avoid*, prevent*, cure*, fixes, ends, rescue*, stop*, causes, cause, trigger, triggers, goes, go,
        runs, run, ran
    """,
    "fraction": """
        eighteenth, sixteenth, ninth, seventh, sixth, hundredth, thousandth, half, third, thirds, quarter, quarters,
        fifth, fifths, tenth, eighth, twice, thrice, double, triple, times as, times more, times less, times the,
        two times, three times, four times, five times, ten times, a hundred times
    """,
    "contrast": """
        →, ->, unlike, into, in contrast to, as opposed to, next to, only, down, up, instead of, against, versus,
        vs, whereas, where, while, became, down from, down to, up from, rather than, compared to, compared with,
        than, the other, the others, in place of, but, over, without, not
    """,
    "either": """
        and, to, or, from, with, by, on, after, before, for
    """,
}
