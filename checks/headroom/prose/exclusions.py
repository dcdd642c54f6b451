"""The words that unmake a comparison, by what they do in a sentence: each category has its reason.

The form is that of ``vocabulary.py``; ``asserting.py`` says how much of a sentence each of them takes away.
"""

from typing import Final

EXCLUDED: Final = {
    # Words that open an instruction.
    "imperative": """
        bother, sacrifice, see also, shall, use, try, set, enable, disable, increase, decrease, reduce, lower,
        raise, run, call, pass, choose, pick, keep, make, install, accelerate, speed, boost, improve, cut, save,
        shrink, free, get, add, remove, replace, move, put, load, write, read, see, refer, check, measure, compare,
        count, profile, turn, switch, enter, return, retry, mind, start, stop, avoid, consider, prefer, ensure,
        note, remember, learn, let's, go, visit, follow, take, apply, wrap, import, schedule, rent, buy, leverage,
        feel, define, create, build, select, specify, change, adjust, tune, limit, freeze, merge, split, export,
        estimate, give, leave, look, trade, find, exploit, utilize, employ, adopt, open, skip, explore, test,
        verify, do, don't, never, always, combine, train, fine-tune, pin, cast, convert, download, shard, place,
        launch, configure, begin, continue, ask, upgrade, update, watch, monitor, benchmark, experiment, provide,
        initialize, initialise, prepare, activate, assign, calculate, compute, decide, determine, divide, double,
        halve, lead, mark, order, sweep, warm, weigh, wait, drop, evaluate, execute, focus, group, identify,
        inspect, log, maximize, minimize, maximise, minimise, optimize, optimise, pad, plan, pre-allocate, quantize,
        quantise, record, rely, repeat, report, restart, review, scale, share, sort, store, stick, think, trim,
        truncate, aim, balance, batch, cap, compile, offload, overlap, play, tell, treat
    """,
    "lead-in": """
        please, then, also, next, finally, instead, first, second, third, now, simply, just, otherwise, so, and, or,
        but, optionally, alternatively, again, later, afterwards, similarly, lastly, therefore, thus, e.g, ideally,
        usually, generally
    """,
    "reason": """
        there, there is, you, its, because, since, which, whose, as it, as they, as this, as that, so it, it, this,
        they, that, we, in which case, hence, so that it
    """,
    # Words that open a heading which names a topic.
    "topic": """
        achieving, getting, making, understanding, accelerating, speeding, running, scaling, handling, comparing,
        measuring, choosing, estimating, monitoring, profiling, tuning, training for, working
    """,
    # What makes of a clause no assertion.
    "condition": """
        should you, had you, if, whether, unless, in case, provided that, assuming, suppose, until, even if, how, as
        long as you, wherever, once you, so long as, supposing, when, whenever, case 1, case 2, case 3, case 4
    """,
    "sought": """
        plan to, plans to, strive for, strives for, we plan, you have, it would be nice, how to, ways to, want to,
        wants to, wish to, hope to, trying to, aim to, aims to, goal is to, you have to, we have to, like to, asked
        to, methods to, techniques to, tips to, tools to, options to, strategies to, approaches to, attempts to,
        attempt to, intended to, ask for, ask whether, tips for, methods for, strategies for, should not, must, you
        should, should determine, should stay, should use, should set, can try, could try, it is recommended, is
        recommended, you need to, you'll need to, we need to, need for, to avoid, to prevent, interested in, want
        more, looking for, in search of, prefer to, request, requests for, combined to, optimized to, configured to,
        strived to, we choose, meet the
    """,
    "unknown": """
        we do not know, do not know, nobody has, nobody knows, not been measured, is unknown, unclear, not known,
        remains to be seen, depends on, depend on, depending on, varies with, remains open, not measured, open
        question, no one has, has yet to be, we have not, yet compared, we did not measure, hard to predict, cannot
        say, may or may not, might or might not
    """,
    "announcement": """
        are welcome, is welcome, asterisk, here is, here are, we make, we plan, we now, roadmap, future release,
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
        what, is given in, are given in, is its, is the product, is the difference, is the fraction, is the unit, is
        measured in, are measured in, is written to, less is better, lower is better, higher is better, more is
        better, smaller is better, is a measure, defined by, is expressed, says how, tells how, tell how, counts
        how, measures how, is a metric, is a callback
    """,
    # Names and turns of speech that hold such a word and compare nothing.
    "name": """
        high bandwidth memory, high-bandwidth memory, low-rank, low rank, high rank, good luck, good idea, good
        practice, good starting point, high school, low level, high level, work well, bad words, no-op, up to date,
        set up, sets up, keep up to date, save time, half-precision, copy of the, same loss, takes place, takes
        precedence, takes effect, takes as, takes an, takes a, takes care, takes the, took the, tensor, tensors,
        memory-efficient attention, memory efficient attention, efficient attention, fast tokenizer, fast
        tokenizers, low-rank adaptation, parameter-efficient fine-tuning, parameter-efficient, mixed precision, half
        precision, full precision, single precision, double precision, low precision, lower-level, low-level,
        higher-level, high-level, higher-order, performance counters, performance counter, performance tuning,
        performance mode, efficiency report, at least, at most, best effort, best practice, best practices,
        best-effort, memory module, loss scaling, loss scale, cost function, loss function, training loss, real
        time, real-time, time step, time steps, first time, second time, last time, next time, each time, every
        time, same time, this time, at a time, some time, over time, in time, time limit, time out, point in time,
        more than one, more than two, scaling factor, or higher, or later, or newer, or more, or less, lower case,
        more likely, less likely, more about, most common, most commonly, most often, more often, more details, more
        information, more detail, double check, double quantization, double quantisation, double buffering, power of
        two, powers of two, power of 2, power supply, work with, works with, work of, in place, full name, higher
        version, higher versions, lower bound, upper bound, lower half, upper half, second half, first half, memory
        bound, compute bound, fast path, slow path, fast fourier, quick start, quickstart, quick tour, time series,
        cost model, score function, attention scores, attention score, padding token, tokenizer, flash memory,
        memory layout, memory format, memory map, memory-mapped, memory pool, more and more, once more, no more, any
        more, not only, no longer, better understanding, most of them, best known, state of the art, other half,
        half of them, half of the, slower of, faster of, larger of, smaller of, lower of, higher of, better of,
        quality control, power user, at this time, work in progress, high speed, high-speed, cannot fit, can't fit,
        doesn't fit, don't fit, does not fit, do not fit, effective batch, free to, feel free, zero + +
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
