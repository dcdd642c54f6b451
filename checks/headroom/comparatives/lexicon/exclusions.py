"""Words that prevent a comparison: imperatives, conditions, definitions, names.

The package's docstring describes the format; ``assertion.py`` says how much of a sentence each family excludes.
"""

from typing import Final

EXCLUDED: Final = {
    # Words that open an instruction.
    "imperative": """
        accelerate, activate, add, adjust, adopt, aim, always, apply, ask, assign, avoid, balance, batch, begin,
        benchmark, boost, bother, build, buy, calculate, call, cap, cast, change, check, choose, combine, compare,
        compile, compute, configure, consider, continue, convert, count, create, cut, decide, decrease, define,
        determine, disable, divide, do, don't, double, download, drop, employ, enable, ensure, enter, estimate,
        evaluate, execute, experiment, exploit, explore, export, feel, find, fine-tune, focus, follow, free, freeze,
        get, give, go, group, halve, identify, import, improve, increase, initialise, initialize, inspect, install,
        keep, launch, lead, learn, leave, let's, leverage, limit, load, log, look, lower, make, mark, maximise,
        maximize, measure, merge, mind, minimise, minimize, monitor, move, never, note, offload, open, optimise,
        optimize, order, overlap, pad, pass, pick, pin, place, plan, play, pre-allocate, prefer, prepare, profile,
        provide, put, quantise, quantize, raise, read, recompute, record, reduce, refer, rely, remember, remove, rent,
        repeat, replace, report, restart, retry, return, review, run, sacrifice, save, scale, schedule, see, see also,
        select, set, shall, shard, share, shrink, skip, sort, specify, speed, split, start, stick, stop, store, sweep,
        switch, take, tell, test, think, trade, train, treat, trim, truncate, try, tune, turn, update, upgrade, use,
        utilize, verify, visit, wait, warm, watch, weigh, wrap, write
    """,
    "lead-in": """
        afterwards, again, also, alternatively, and, but, e.g, finally, first, generally, ideally, instead, just,
        lastly, later, next, now, optionally, or, otherwise, please, second, similarly, simply, so, then, therefore,
        third, thus, usually
    """,
    "reason": """
        as it, as that, as they, as this, because, hence, in which case, it, its, since, so it, so that it, that,
        there, there is, they, this, we, which, whose, you
    """,
    # Words that open a heading which names a topic.
    "topic": """
        accelerating, achieving, choosing, comparing, estimating, getting, handling, making, measuring, monitoring,
        profiling, running, scaling, speeding, training for, tuning, understanding, working
    """,
    # What makes of a clause no assertion.
    "condition": """
        as long as you, assuming, case 1, case 2, case 3, case 4, depending on, even if, had you, how, if, in case,
        once you, provided that, should you, so long as, stops being true, stops being true where, suppose, supposing,
        unless, until, when, whenever, wherever, whether
    """,
    "sought": """
        aim to, aimed at, aims at, aims to, approaches to, ask for, ask whether, asked to, attempt to, attempts to,
        can try, combined to, configured to, could try, dedicated to, find the, finds the, focused on, focuses on,
        focusing on, goal is to, hope to, how to, identifies, identify, in order to, in search of, intended to,
        interested in, is recommended, it is recommended, it would be nice, like to, looking for, meet the, methods
        for, methods to, must, must not, need for, needed to, optimized to, options to, plan to, plans to, prefer to,
        should determine, should not, should set, should stay, should use, so as to, strategies for, strategies to,
        strive for, strived to, strives for, techniques to, tips for, tips to, to avoid, to prevent, tools to, trying
        to, want more, want to, wants to, ways to, we choose, we compare, we evaluate, we have to, we measure, we need
        to, we plan, we report, wish to, you have, you have to, you need to, you should, you'll need to
    """,
    "unknown": """
        cannot say, depend on, depends on, do not know, hard to predict, has yet to be, is unknown, may or may not,
        might or might not, no one has, nobody has, nobody knows, not been measured, not known, not measured, open
        question, remains open, remains to be seen, unclear, varies with, we did not measure, we do not know, we have
        not, yet compared
    """,
    "announcement": """
        an overview of, are also investigating, are covered, are described, are discussed, are documented, are
        explained, are investigating, are listed, are shown, are welcome, are working on, asterisk, blog post, chapter
        1, chapter 2, chapter 3, chapter 4, chapter 5, chapter 6, chapter on, chart below, coming soon, covers, deals
        with, describes, diagram below, discusses, explains, figure 1, figure 2, figure 3, figure 4, figure 5, figure
        above, figure below, figure shows, for details, future release, graph above, graph below, guide on, guide to,
        here are, here is, image below, in the plot, in the plots, in this chapter, in this guide, in this page, in
        this post, in this section, in this tutorial, in this video, introduces you, is covered, is described, is
        discussed, is documented, is explained, is listed, is shown, is welcome, is working on, learn more, left axis,
        let us, lists which, more details, more information, neither says, next section, our goal, page on, part four,
        part one, part three, part two, planned, plot below, read more, related paper, related work, right axis,
        roadmap, section on, see also, stay tuned, table 1, table 2, table 3, table 4, table 5, table 6, table above,
        table below, table lists, the axis, the following, the guide, the guides, the plot, the plots, the rest of,
        this article, this chapter, this document, this documentation, this example shows, this guide, this notebook,
        this page, this post, this section, this table, this tutorial, walk you, walks you, we are also, we are
        investigating, we are working on, we cover, we describe, we discuss, we explain, we make, we now, we plan, we
        show how, we welcome, we will, we'll, we're working, what follows, will be added, will be supported, worked
        problem, you will learn, you'll learn
    """,
    "definition": """
        are called, are defined as, are given in, are measured in, counts how, defined by, higher is better, is a
        callback, is a measure, is a metric, is called, is defined as, is expressed, is given in, is its, is measured
        in, is the amount, is the difference, is the fraction, is the number, is the product, is the ratio, is the
        share, is the size, is the sum, is the time, is the unit, is what, is written to, known as, less is better,
        lower is better, measures how, more is better, refer to, refers to, says how, short for, smaller is better,
        stand for, stands for, tell how, tells how
    """,
    # Names and turns of speech that hold such a word and compare nothing.
    "name": """
        acceptance rate, acceptance rates, action space, added by, added in, added to, address space, all the time,
        all-reduced, any more, are reduced across, are reduced in, are reduced over, are saved, are the same as, as
        far as, as follows, as long as, as many as you, as much as needed, as much as you, as needed, as possible, as
        soon as, as usual, as well, as well as, at a time, at best, at compile time, at least, at most, at run time,
        at runtime, at the time, at the time of, at the top, at this time, at worst, attention score, attention
        scores, backup precision, bad words, best checkpoint, best effort, best fit, best fits, best known, best
        metric, best model, best possible, best practice, best practices, best results, best suits, best way,
        best-effort, better of, better suits your, better understanding, blog post, by half-open, can't fit, cannot
        fit, ceiling division, cliff notes, clock rate, color space, compile time, compute bound, cost function, cost
        model, cost of living, cuda visible, date and time, degree of, differences remain, do not fit, does not fit,
        doesn't fit, don't fit, double buffering, double check, double precision, double quantisation, double
        quantization, doubles as, dropout rate, each time, easiest way, effective batch, efficiency report, efficient
        attention, embedding space, error message, error messages, every time, exceed the maximum, fast fourier, fast
        path, fast tokenization, fast tokenizer, fast tokenizers, faster of, fastest way, feel free, first half, first
        time, flash memory, floating-point precision, four more, free software, free to, full name, full precision,
        full stop, gains access, good idea, good luck, good results, good starting point, good time, half of the, half
        of them, half precision, half-precision, heavy lifting, heavy metal, heavy users, high bandwidth memory, high
        end, high level, high precision, high quality, high rank, high school, high-bandwidth memory, high-level,
        high-level overview, higher end, higher of, higher precision, higher version, higher versions, higher-level,
        higher-order, highest precision, ideal for, idle power, in less than, in more than, in place, in real life, in
        real time, in the same way, in time, is reduced across, is saved, is the same as, just as well, keep up to
        date, larger of, last time, latent space, learning rate, learning rates, learning-rate, less likely, lifespan,
        long time ago, long-term, loss function, loss scale, loss scaling, loss to scale, low end, low level, low
        precision, low rank, low-cpu, low-level, low-rank, low-rank adaptation, lower bound, lower case, lower end,
        lower half, lower of, lower precision, lower-level, lower-level api, lowest precision, major release, major
        version, make sure, makes sure, making sure, maximum length, maximum number, maximum number of, maximum of,
        maximum sequence, maximum value, may or may not, mean square error, mean time, memory bound, memory efficient
        attention, memory error, memory errors, memory format, memory layout, memory leak, memory map, memory module,
        memory pool, memory-efficient attention, memory-mapped, minimum number, minimum of, minimum value, minimum
        version, minor release, minor version, mixed precision, more about, more and more, more detail, more details,
        more information, more likely, more often, more than one, more than two, more tokens than, more work on, most
        common, most commonly, most efficient way, most of the time, most of them, most often, much less than 100 %,
        name space, near future, near the, next time, no difference between, no fewer than, no later than, no less
        than, no longer, no more, no more than, no time limit, no-op, not only, of two halves, of what the, on top, on
        top of, once more, one more, one second to, or higher, or later, or less, or more, or newer, original
        precision, other half, other than, our results, out of reach of, out-of-memory error message, over time,
        overhead of measuring, padding token, parameter space, parameter-efficient, parameter-efficient fine-tuning,
        peak flops, peak memory bandwidth, performance counter, performance counters, performance data, performance
        difference, performance differences, performance mode, performance numbers, performance results, performance
        tuning, point in time, power cap, power cut, power draw, power limit, power of 2, power of two, power supply,
        power user, powers of two, primary precision, pull request, pull requests, quality control, quick look, quick
        overview, quick reference, quick start, quick tour, quickest way, quickstart, rapid growth, rapid prototyping,
        rate limit, real time, real work, real-time, reduced across, reduced in, reduced over, reduced precision,
        reduced with, results are, results in a, results in the, results table, run time error, runtime error, same
        time, sample rate, sampling rate, save time, saved as, saved by, saved in, saved model, saved on, saved to,
        saved with, saves the model, scale is halved, scaling factor, score function, search space, second half,
        second time, set up, sets up, short-term, simplest way, single precision, slow path, slower of, smaller of,
        some time, space between, square error, stable diffusion, stable release, stable version, state of the art,
        state space, step does not, struggle with, tail of, takes a, takes an, takes as, takes care, takes effect,
        takes place, takes precedence, takes the, takes the cheap, target precision, tensor, tensors, than ever, than
        one, than two, the first 10 %, the first 30 %, the first time, the results, the same way, these results, this
        time, three more, throws a, throws an, time limit, time out, time series, time step, time steps, time zone,
        times the, to spare you, tokenizer, too much time, top level, top of, training loss, two halves, two more, two
        more copies, up to date, upper bound, upper half, user space, vector space, visible devices, visible to, white
        space, work in progress, work of, work well, work with, works with, your results, zero + +, zero redundancy
    """,
    # A size of the work, not of a method: larger models need more memory whatever the method.
    "workload": """
        answers, context, contexts, corpora, corpus, dataset, datasets, document, documents, experts, files, image,
        images, input, inputs, layers, llm, llms, model, models, network, networks, outputs, parameters, prompt,
        prompts, resolution, resolutions, sequence, sequences, text, texts, tokens, transformer, transformers, video,
        videos, vocabularies, vocabulary
    """,
    "size": """
        big, bigger, billion, deeper, higher, huge, large, larger, long, longer, more, short, shorter, small, smaller,
        wider
    """,
    # In -s and before a dimension, but no verb of effect.
    "neutral": """
        adds, allocates, always, as, asks, assumes, averages, begins, besides, bytes, calculates, carries, checks,
        comes, compares, computes, considers, contains, controls, counts, covers, defines, depends, describes,
        determines, discusses, displays, divides, does, ends, estimates, evaluates, exchanges, expects, explains,
        exposes, features, gets, gives, goes, gpus, has, holds, includes, indicates, its, keeps, lies, limits, lists,
        logs, manages, means, measures, models, monitors, multiplies, names, needs, others, parameters, passes,
        performs, perhaps, plots, prints, profiles, provides, reads, records, refers, reflects, reports, represents,
        requires, reserves, results, returns, reveals, runs, says, sees, sets, settings, shows, sits, specifies,
        stands, starts, steps, stores, summarises, summarizes, sums, supports, takes, tells, tests, this, thus, times,
        tokens, tracks, triggers, uses, utilises, utilizes, values, was, weights, whereas, writes
    """,
}
