"""Nouns for quantities that can be better or worse, and for amounts.

The package's docstring describes the format.
"""

from typing import Final

THINGS: Final = {
    # What a method can be better or worse in: speed, memory, size, traffic, energy, cost, quality.
    "dimension": """
        accuracies, accuracy, activation memory, all-reduce times, allocated memory, approximation error, arithmetic,
        arithmetic intensity, bandwidth, bandwidths, bill, bleu, bottleneck, bottlenecks, bubble, bubbles, budget,
        cache misses, calculations, capacity, carbon, carbon footprint, cold start, cold starts, communication,
        communication volume, communications, compilation, compile times, computation, computations, compute,
        concurrency, concurrent users, congestion, contention, convergence, convergence speed, cost, costs, cpu time,
        delay, delays, disk space, disk usage, dispatch overhead, dollars, downtime, duration, durations, duty cycle,
        efficiency, electricity, emissions, energy, energy consumption, epoch time, eval loss, expense, expenses,
        extrapolation, fees, fid, fidelity, final loss, flop, flops, footprint, footprints, fps, fragmentation, frame
        rate, gap, gaps, generalisation, generalization, generation time, goodput, gpu hours, gpu time, gpu
        utilization, gpu-hours, hbm, headroom, heat, hit rate, host memory, hours, i / o, i/o, idle time, idling,
        images per second, interactivity, invoice, io, itl, jitter, latencies, latency, load time, load times, loading
        time, loading times, memory, memory access, memory bandwidth, memory consumption, memory pressure, memory
        spikes, memory usage, memory use, mfu, microseconds, milliseconds, misses, money, noise, numerical error,
        numerical errors, occupancy, operations, overflow, overhead, overheads, p50, p90, p95, p99, pace, page faults,
        paging, payload, payloads, peak, peaks, penalties, penalty, performance, performances, perplexity, power,
        power consumption, prefill time, pressure, price, qps, quality, quantisation error, quantisation errors,
        quantization error, quantization errors, ram, ram usage, rate, rates, recall, recomputation, recompute,
        relative error, requests per second, reserved memory, resident set, response time, response times,
        responsiveness, results, robustness, round trips, rounding error, rounding errors, rss, run time, runtime,
        runtimes, samples per second, savings, scalability, scaling, scaling efficiency, score, scores, serialisation,
        serialization, smoothness, space, speed, speed gains, speed-accuracy, speed-up, speeds, spending, spikes,
        stability, stall, stalls, start-up, startup, startup times, step times, steps per second, storage, stutter,
        swap, swapping, synchronisation, synchronization, syncs, tail, temporaries, thrashing, throughput,
        throughputs, time, time-to-first-token, times, tokens a second, tokens per dollar, tokens per second, tpot,
        traffic, transcription time, transfer, transfers, ttft, turnaround, turnaround times, underflow, utilisation,
        utilization, validation loss, variance, volume, vram, vram usage, wait, waiting, waits, wall-clock, walltime,
        warm start, warm starts, warm-up time, wattage, watts, wer, work, working set, workspace
    """,
    # What takes memory or time, but is also talked of without any comparison: counts only after a word that compares.
    "object": """
        activations, advantage, advantages, all-gather, all-gathers, all-reduce, all-reduces, artefacts, barriers,
        benefit, benefits, bits, boost, breaks, buffer, buffers, bytes, cache, caches, cards, casts, collectives,
        communication rounds, compilations, computation, conversions, copies, copy, cores, cpu cores, data set,
        degradation, dequantisation, dequantization, difference, downloads, drop, duplication, edge, error, errors,
        evaluations, evictions, faults, gain, gains, gathers, gigabytes, gpus, gradients, graph breaks, hit, holes,
        hops, improvement, improvements, increase, invocations, iterations, kernel launch, kernel launches, launch,
        launches, lead, logits, margin, megabytes, memory spikes, messages, model states, optimizer states, padding,
        penalty, precision, preemptions, prefill, re-reads, reads, recompilations, reduction, reductions, redundancy,
        regression, rereads, reshards, residuals, return, returns, round trips, round-trips, speedup, spills, states,
        syncs, system calls, temporaries, tensors, transposes, uploads, waits, weights, win, wins, work, writes
    """,
    # Most of something is gone, or counts in another number.
    "bulk": """
        a third of, all of the, almost all, half of, most of, nearly all, the bulk of, the lion's share, two thirds of
    """,
    # Before what is not so, or no longer.
    "instead": """
        as opposed to, down from, in place of, instead of, rather than
    """,
    # A number in words.
    "numeral": """
        a dozen, eight, five, four, half, hundreds, nine, one, quadratic, quadratically, seven, six, ten, thousands,
        three, two
    """,
    # What may be fast or slow as such: a method.
    "thing": """
        algorithm, algorithms, alternative, alternatives, backend, decoding, fallback, format, formats,
        implementation, implementations, kernel, kernels, method, methods, operation, operations, optimizer, process,
        quantization, solution, technique
    """,
    # What is won or lost of a dimension.
    "gain": """
        acceleration, advantage, advantages, benefit, benefits, blow-up, blowup, boost, boosts, cut, cuts, decline,
        decrease, decreases, deficit, degradation, degradations, delta, deltas, deterioration, difference,
        differences, disadvantage, dividend, doubling, drop, drops, edge, explosion, gain, gains, growth, halving,
        hit, improvement, improvements, increase, increases, jump, lead, leap, payoff, penalties, penalty, premium,
        reduction, reductions, regression, regressions, relief, rise, saving, savings, shortfall, surge, toll, uplift,
        win, wins
    """,
    # A burden.
    "burden": """
        accuracy drop, accuracy loss, bottleneck, bottlenecks, bubble, bubbles, communication, compilations,
        congestion, contention, copying, cost, costs, degradation, delays, divergence, duplication, extra copies,
        extra copy, extra graph compilations, extra pass, fee, fragmentation, graph break, graph breaks, graph
        compilation, graph compilations, host-device copies, idle time, instability, jitter, latency penalty, latency
        spikes, loss of, loss spikes, memory spikes, out-of-memory errors, overhead, overheads, padding waste,
        penalties, penalty, performance penalty, preemption, preemptions, price, quality loss, recompilation,
        recompilations, recomputation, redundancy, round trip, round trips, second copy, slow-down, slowdown,
        slowdowns, spikes, stall, stalls, stutter, swapping, synchronisation, synchronisations, synchronization,
        synchronizations, tax, taxes, thrashing, throttling, toll, transfer, transfers, underflow, wait, waiting,
        waste
    """,
    # What is made shorter or longer.
    "process": """
        attention, backward, calibration, computation, convergence, decode, decoders, decoding, epoch, epochs,
        evaluation, everything, execution, fine-tuning, finetuning, forward, generation, inference, initialisation,
        initialization, kernels, launch, launches, loading, loop, matmuls, operations, optimisation, optimization,
        pass, passes, pipeline, prefill, preprocessing, products, prompts, quantisation, quantization, requests,
        restart, restarts, run, runs, sampling, save, saves, saving, start-up, startup, step, steps, things,
        tokenisation, tokenization, training, users
    """,
    # Such work.
    "labour": """
        at once, computed again, computed twice, copied again, done again, exist, gathered again, held at once, loaded
        again, materialised, materialized, re-encoded, re-read, read twice, rebuilt, recompiled, recomputed,
        refetched, reprocessed, reread, retransmitted, stored twice
    """,
    # What fits, or does not.
    "capacity": """
        100k, 128k, 1m, 24 gb cards, 32k, 64k, a browser, a cheap, a cheaper, a gaming card, a laptop, a notebook, a
        single card, a single gpu, a workstation, an old, any one of them, beyond the limitations, bigger batch,
        bigger batch sizes, bigger batches, bigger model, bigger models, bigger sequence, commodity, concurrent
        requests, concurrent users, consumer card, consumer cards, consumer gpu, consumer gpus, double the batch, edge
        devices, effective batch size, existing hardware, far longer, fewer cards, fewer gpus, half the cards, half
        the gpus, higher batch, higher concurrency, higher resolution, higher resolutions, huge model, huge models,
        laptops, larger batch, larger batch sizes, larger batches, larger contexts, larger global batch, larger
        images, larger micro-batches, larger model, larger models, larger vocabulary, limited gpu, limited hardware,
        limited memory, limited resources, long sequences, longer context, longer contexts, longer document, longer
        documents, longer prompts, longer sequence, longer sequences, longer texts, macbook, microcontroller,
        microcontrollers, million tokens, million tokens of, millions of tokens, modest gpu, modest hardware, more
        clients, more concurrent, more experiments, more layers, more requests, more sequences, more users, much
        larger, much longer, old hardware, older cards, older gpus, older hardware, on 8 gb, on a laptop, on a phone,
        on a raspberry pi, on a workstation, one 24 gb card, one card, one device, one gpu, one machine, one node, one
        server, phone, raspberry pi, same budget, same card, same device, same gpu, same hardware, same machine,
        several models, single card, single device, single gpu, single machine, single-board, small cards, smaller
        card, smaller cards, smaller gpu, smaller gpus, smartphone, smartphones, tablets, the browser, twice as many,
        twice the batch, twice the context, twice the users, ultra-long, without offloading, without sharding, without
        splitting, workstation
    """,
    # What a method may save from.
    "shortage": """
        exhausted memory, memory exhaustion, oom, oom error, oom errors, oom killer, oom-killed, ooming, ooms, out of
        memory, out-of-memory, out-of-memory error, out-of-memory errors, resource _ exhausted
    """,
    # How many times, or which part.
    "fraction": """
        a hundred times, double, eighteenth, eighth, fifth, fifths, five times, four times, half, hundredth, ninth,
        quarter, quarters, seventh, sixteenth, sixth, ten times, tenth, third, thirds, thousandth, three times,
        thrice, times as, times less, times more, times the, triple, twice, two times
    """,
    # What sets two figures against one another.
    "contrast": """
        ->, against, as opposed to, became, by contrast, compared to, compared with, down from, down to, in contrast
        to, in place of, instead of, not, otherwise, rather than, than, the other takes, unlike, up from, versus, vs,
        where, whereas, while, without, →
    """,
}
