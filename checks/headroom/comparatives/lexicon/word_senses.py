"""Families of words that are weak evidence alone: the model has a weight for each and for pairs.

The package's docstring describes the format; a word may be in several families.
"""

from typing import Final

SENSES: Final = {
    # Praises.
    "good": """
        accurate, affordable, ahead, beneficial, benefit*, best, better, breeze, brisk, careful, cheap, cheaper,
        cheapest, comfortable, comfortably, compact, decent, economical, effective, efficient, exact, exactly,
        excellent, fast, fast enough, faster, fastest, favor*, favour*, fine, finer, free, friendlier, friendly,
        frugal, gentle, gentler, good, great, handsome, handsomely, harmless, healthy, helpful, helps, ideal,
        impressive, instant, instantaneous, invisible, kind to, kinder, lean, leaner, leanest, light, lighter,
        lightest, lightweight, modest, neat, negligible, nimble, optimal, painless, pleasant, precise, prompt, quick,
        quicker, quickest, quickly, rapid, real time, rescue, robust, safe, safer, safest, sharp, sharper, shine*,
        slim, slimmer, smooth, smoother, smoothest, snappier, snappy, sound, spectacular, speedy, stable, steadier,
        steadiest, steady, strong, stronger, sturdy, superb, superior, swift, swiftest, thrifty, tight, tighter, tiny,
        top, unbeatable, unbeaten, viable, welcome, well, winner, wins, won, worthwhile
    """,
    # Blames.
    "bad": """
        abysmal, annoying, awful, bad, badly, behind, bloated, bottleneck, bottlenecks, brittle, burden, catastrophic,
        clumsy, coarse, coarser, costly, crawl, crawling, crawls, crippling, cumbersome, dear, dearly, detrimental,
        disaster, disastrous, dismal, dreadful, dreadfully, erratic, excessive, expensive, fatal, fragile, fussy,
        glacial, greedy, harm, harmful, harms, harsh, heavier, heavy, hefty, hungry, hurt, hurts, idle, idles,
        inaccurate, inefficient, inferior, intolerable, jagged, jerky, jittery, laggy, lame, lossy, lousy, mediocre,
        miserable, miserably, noisier, noisy, painful, painfully, penalty, pitiful, poor, poorer, poorest, poorly,
        pricey, prohibitive, prohibitively, redundant, ruin*, ruinous, sensitive, severe, severely, shaky, slow,
        slowdown, slower, slowest, slowly, sluggish, stall*, starve*, steep, stutter*, suboptimal, suffer*, tax,
        tedious, terrible, terribly, touchier, touchy, unacceptable, unattractive, unbearable, unbearably, unpleasant,
        unstable, unusable, useless, vain, visibly, waste*, wasteful, weak, weaker, worse, worsen*, worst, wrong
    """,
    # What goes wrong.
    "failure": """
        artefacts, artifacts, blow up, blows up, break down, breaks down, broke, collapse*, crash*, degenerate*,
        deteriorate*, die, dies, diverge*, divergence, exhaust*, explode*, fail*, fall apart, falls apart,
        fragmentation, freeze*, garbage, gibberish, hang*, incoherent, infinite, instability, jitter, killed, kills,
        lag*, loops, nan, nans, noise, nonsense, oom, ooms, out of memory, overfit*, overflow*, overrun*, saturate*,
        spike, spikes, spill*, swap*, swapping, thrash*, throttle*, timeout, timeouts, underflow*, wreck*
    """,
    # What is used up.
    "resource": """
        activation memory, arena, bandwidth, battery, buffer, buffers, bytes, cache, compute, copies, copy, core,
        cores, cpu, cycles, device memory, disk, flops, footprint, gb, gigabyte, gigabytes, gpu, gpu memory, hbm, host
        memory, i/o, kb, kilobytes, mb, megabytes, memory, overhead, ram, room, rss, space, storage, swap, terabyte,
        terabytes, traffic, volume, vram, weights, working set
    """,
    # How fast it goes.
    "pace": """
        bubble, clock, cold start, compile time, decode rate, delay, delays, duration, epoch time, first token, frame
        rate, generation time, hour, hours, inter-token, iteration time, itl, latencies, latency, millisecond,
        milliseconds, minute, minutes, pace, performance, rate, run time, runtime, second, seconds, speed, speed-up,
        speedup, speedups, start-up, startup, step time, steps, tail, throughput, time, times, tokens a second, tokens
        per second, tpot, ttft, turnaround, utilisation, utilization, wait*, wall clock, wall time
    """,
    # How good the result is.
    "quality": """
        accuracy, accuracy loss, answer, answers, bleu, coherence, converge*, convergence, curve, curves, deviate*,
        deviation, digits, error, errors, f1, fidelity, gap, gradient noise, gsm8k, humaneval, loss, losses, map,
        mmlu, mos, ndcg, numerically, output quality, outputs, perplexities, perplexity, point, points, precision,
        quality, recall, results, reward, rouge, score, scores, spikes, stability, variance, wer, win rate
    """,
    # What it costs.
    "money": """
        bill, billing, bucks, budget, cent, cents, cheap, cloud bill, cost, costing, costs, credits, dollar, dollars,
        emissions, energy, euro, euros, expense, fee, joule, joules, kwh, money, mwh, paid, pay, paying, pays, per
        dollar, power, price, prices, purse, rent, wallet, watt, watts
    """,
    # Who has seen it, and where: what is reported is asserted.
    "evidence": """
        according to, benchmark, benchmarks, clocked, empirically, experience, experiments, find it, found, gave me,
        gave us, got me, got us, i found, i got, i have tried, i measured, i saw, i tried, in my case, in my
        experience, in my runs, in my tests, in our case, in our experience, in our experiments, in our lab, in our
        measurements, in our own, in our runs, in our setup, in our test, in our tests, in our trace, in our traces,
        in practice, in reality, measured, measurements, observe*, on average, on my, on our, our model, our run, our
        tests, recorded, report*, saw, seen, so far, surprisingly, the authors report, timed, typically, usually, we
        found, we got, we lost, we measured, we observed, we saw, we see, we tried, you gain, you get, you lose, you
        save, you will see, you'll see
    """,
    # Sets one against another.
    "against": """
        against, although, as against, as compared to, as opposed to, but, by comparison, by contrast, compared,
        compared to, compared with, contrary to, conversely, despite, down from, even though, formerly, however, in
        comparison, in contrast, in place of, instead, instead of, next to, on the other hand, opposed, original,
        otherwise, over, previously, rather than, relative to, than, though, unlike, up from, used to, versus, vs,
        where, whereas, while, with and without, without, without it, yet
    """,
    # Says no.
    "negation": """
        ain't, aren't, barely, can't, cannot, could not, couldn't, did not, didn't, does not, doesn't, don't, hardly,
        isn't, lack*, neither, never, no, no longer, nobody, none, nor, not, nothing, rarely, scarcely, seldom,
        wasn't, without, won't, wouldn't
    """,
    # By little.
    "slight": """
        a bit, a few percent, a hair, a little, a shade, a sliver, a touch, a trifle, about as, all but, almost,
        barely, basically, bit, close to, essentially, few, fraction, free of charge, hardly, hardly any, little,
        marginal, marginally, measly, mere, merely, minor, moderate, moderately, nearly, negligible, next to nothing,
        no more than, nominal, only, practically, roughly, scarcely, slight, slightly, small, smaller, somewhat, tad,
        tiny, virtually, within noise, within one percent
    """,
    # By much.
    "much": """
        a good deal, a great deal, a lot, by a factor of, by a wide margin, by far, clearly, considerable,
        considerably, decisively, dozens, dramatic, dramatically, drastic, drastically, enormous, enormously,
        entirely, far, greatly, half, halves, heavily, huge, hugely, hundreds, immense, immensely, large, largely,
        lot, many times, markedly, massive, massively, most, most of, much, notably, noticeable, noticeably, order of
        magnitude, orders of magnitude, quarter, remarkably, several times, sharp, sharp drop, sharply, significant,
        significantly, sizeable, strongly, substantial, substantially, third, thousands, threefold, tremendous,
        tremendously, twice, twofold, vastly, visible, way
    """,
    # What becomes possible.
    "able": """
        able to, accommodate*, affordable, allow*, become possible, becomes possible, can afford, can fit, can go, can
        hold, can run, can train, enable*, feasible, fit, fits, fitted, fitting, get away with, get by, gets away
        with, gets by, go up to, goes in, handle*, hold, holds, leaves room, let, lets, letting, lift*, makes do,
        makes it possible, makes possible, opens, permit*, possible, practical, reach*, room for, run on, scale to,
        serve*, squeeze*, suffice*, support, sustain*, viable, within reach
    """,
    # It grows.
    "up": """
        add, added, adding, adds, balloon*, boost*, climb*, creep*, crept, double*, escalate*, exceed*, expand*,
        explode*, extra, gain, gained, gains, go up, goes up, grew, grow, grows, increase*, inflate*, jump*, lift*,
        longer, more, multiply*, quadruple*, raise*, rise, risen, rises, rising, rocket*, rose, shoot up, soar*,
        stretch*, surge*, swell*, triple*, went up, widen*
    """,
    # It shrinks.
    "down": """
        come down, comes down, cut, cuts, cutting, decline*, decrease*, dip, dips, down to, drop, dropped, drops,
        ease*, eliminate*, evaporate*, fall, falls, fell, fewer, go down, goes down, halve*, knock off, knocks off,
        less, lessen*, lower, lowered, lowers, minimise*, minimize*, narrow*, reduce*, relieve*, remove*, sank, save,
        saved, saves, saving, savings, shave*, shed*, shorten*, shorter, shrank, shrink, shrinks, sink, sinks, skip*,
        slash*, smaller, spare*, strip*, take off, takes off, trim*, vanish*, went down
    """,
    # Something is won, paid, wasted or given back.
    "economy": """
        afford*, ate, bargain, bill, bought, bring, brings, brought, burn*, buy, buy back, buys, buys back, charge*,
        come at, comes at, consume*, cost, costing, costs, devour*, earn*, eat, eat up, eating, eats, exchange,
        forfeit*, gain*, gave back, get back, give back, give up, gives back, gives up, gobble*, in return, lose,
        loses, losing, lost, occupy*, outweigh*, paid, pay, pay off, pays, pays off, price, profit*, recoup*,
        recover*, regain*, reward*, sacrifice*, spend, spends, spent, squander*, swallow*, take up, takes up, toll,
        took, trade, trade-off, tradeoff, trades, waste*, win, win back, wins, won, worth, worth it, worth the
        trouble, yield*
    """,
    # What one should take.
    "advice": """
        advisable, advise*, attractive, avoid, choice, compromise, count on, default, don't expect, expect, favourite,
        first choice, first thing to try, forget, hope for, last resort, no reason to, not worth, pays, prefer*,
        preferable, recommend*, right choice, should be avoided, suggest*, sweet spot, think twice, worth, worthwhile
    """,
    # As before, as the other.
    "equal": """
        agree*, alike, analogous, as close, as good as, as many as, as much as, bit-identical, can't tell, cannot
        tell, comparable, comparably, equal, equally, equals, equivalent, exactly, identical, indistinguishable, is
        gone, keep up, keeps pace, match*, no difference, no different, no effect, no influence, no loss, on a par, on
        par, on top of one another, parity, preserve*, remain*, same, same as, similar, stay*, stays, tell apart, tie,
        ties, unaffected, unaltered, unchanged, within, within noise
    """,
    # Who is first.
    "order": """
        ahead, ahead of, beat, beaten, beats, behind, best, catch up, catches up, dominate*, exceed*, fall behind,
        falls behind, first, front runner, lag*, lead, leads, left behind, outclass*, outdo, outdoes, outlast*,
        outpace*, outperform*, overtake*, overtaking, rank*, runner-up, second best, surpass*, top, tops, trail*,
        trailed, upper hand, win, winner, wins, worst
    """,
    # The work that is done.
    "doing": """
        batching, checkpointing, compilation, compile*, decode, decodes, decoding, embedding, encode*, evaluation,
        fine-tuning, finetuning, forward, generate*, generation, gradient, inference, kernel, kernels, launch,
        launches, load, loading, loads, matmul, matmuls, model, models, offload*, optimizer, pass, passes, prefill,
        quantization, quantize*, quantizing, read, reads, request, requests, run, running, runs, save, sequence,
        sequences, serving, start, step, steps, token, tokens, train, training, transfer, transfers, update, updates,
        write, writes
    """,
    # Says what something is.
    "defining": """
        are called, called, controls, defaults to, defined as, defines, denotes, describes, determines, is called, is
        the, means, measures, number of, referred to as, refers to, specifies, stands for, the number, the share, the
        sum, the time from, whether to, which
    """,
    # What one sets.
    "knob": """
        at batch size, batch size, batch sizes, bigger, block size, buckets, capping, chunk, chunks, degree, going
        from, granularity, group size, higher, larger, learning rate, limiting, longer, lower, lowering, number of
        workers, precision, raising, rank, setting, smaller, switching, turning, values above, with it, with the,
        workers
    """,
}
