"""The words that make a sentence comparative, by what they do in it. Whoever misses one adds it here, and nowhere else.

A category holds words and phrases with commas between them. A ``*`` stands for the endings of a regular verb. Which
categories make a comparison, alone or near one another, ``comparing.py`` says. ``exclusions.py`` has what unmakes one.
"""

from typing import Final

COMPARED: Final = {
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
        paging, payload, payloads, peak, peaks, penalties, penalty, performance, perplexity, power, power consumption,
        prefill time, pressure, price, qps, quality, quantisation error, quantisation errors, quantization error,
        quantization errors, ram, ram usage, rate, rates, recall, recomputation, recompute, relative error, requests
        per second, reserved memory, resident set, response time, response times, responsiveness, results, robustness,
        round trips, rounding error, rounding errors, rss, run time, runtime, runtimes, samples per second, savings,
        scalability, scaling, scaling efficiency, score, scores, serialisation, serialization, smoothness, space,
        speed, speed gains, speed-accuracy, speed-up, speeds, spending, spikes, stability, stall, stalls, start-up,
        startup, startup times, step times, steps per second, storage, stutter, swap, swapping, synchronisation,
        synchronization, syncs, tail, temporaries, thrashing, throughput, throughputs, time, time-to-first-token,
        times, tokens a second, tokens per dollar, tokens per second, tpot, traffic, transcription time, transfer,
        transfers, ttft, turnaround, turnaround times, underflow, utilisation, utilization, validation loss, variance,
        volume, vram, vram usage, wait, waiting, waits, wall-clock, walltime, warm start, warm starts, warm-up time,
        wattage, watts, wer, work, working set, workspace
    """,
    # What takes memory or time, but is also talked of without any comparison: counts only after a word that compares.
    "object": """
        activations, advantage, advantages, all-gather, all-gathers, all-reduce, all-reduces, artefacts, barriers,
        benefit, benefits, bits, boost, breaks, buffer, buffers, bytes, cache, caches, cards, casts, collectives,
        communication rounds, computation, conversions, copies, copy, cores, cpu cores, data set, degradation,
        dequantisation, dequantization, difference, downloads, drop, duplication, edge, error, errors, evictions,
        gain, gains, gathers, gigabytes, gpus, gradients, graph breaks, hit, holes, hops, improvement, improvements,
        increase, kernel launch, kernel launches, launch, launches, lead, logits, margin, megabytes, memory spikes,
        messages, model states, optimizer states, padding, penalty, precision, preemptions, prefill, reads,
        recompilations, reduction, reductions, redundancy, regression, reshards, residuals, return, returns, round
        trips, speedup, states, syncs, temporaries, tensors, transposes, uploads, waits, weights, win, wins, work,
        writes
    """,
    # Says by itself that one is better or worse.
    "comparative": """
        a big difference, a cut above, a fraction of, a huge difference, a notch above, a snail, a tax, a tie, a wash,
        about doubles, about halves, absorbs, accelerated inference, accelerates, accelerating, accuracy degradation,
        accuracy loss, adverse effect, ahead by, ahead of, all but vanish, all but vanishes, all the difference,
        almost doubles, almost halves, almost in two, almost nothing, amortise*, amortize*, an hour of, an hour or
        more, any difference in, any faster, any slower, are better, are negligible, are worse, as accurate as, as
        cheap as, as costly as, as efficient as, as expensive as, as fast as, as good as, as much as, as quick as, as
        quickly, as quickly as, as slow as, as well as an, as well as full, at a fraction, at almost no cost, at full
        speed, at full tilt, at its limit, at little cost, at no additional cost, at no cost, at no extra cost, at
        peak, at the limit, ate up, avoid materializing, avoids materialising, avoids materializing, ballast,
        ballpark, bang for, barely any, barely fits, barely usable, bargain, beat, beating, beats, beefier, behaves
        just like, benefit greatly, benefit most, benefit the most, benefits greatly, benefits most, benefits the
        most, best choice, best of all, best of both worlds, best option, best performer, best-in-class,
        best-performing, better choice, better choice than, better fit, better option, better suited, better than,
        better use of, big gain, big gains, bit for bit, bit-for-bit, bit-identical, bites, blazing fast, bleeds, blew
        up, blow up, blows up, blunt*, bogged down, bogs down, bottleneck, bottlenecked, bottlenecks, bought nothing,
        bought only, break even, breaks down under, breaks even, breathing room, breeze through, breezes through,
        bring to its knees, bring up the rear, brings nothing, brings to its knees, brings up the rear, brought
        nothing, brought to its knees, buckle*, budget option, budget-friendly, burn through, burns through, busier,
        busywork, buys little, buys nothing, buys only, buys you, by a factor of, by a hair, by a mile, by a quarter,
        by a third, by a wide margin, by comparison, by far, by far the, by two thirds, came close to, came on top,
        came out ahead, came out better, came out worse, cannibalise*, cannibalize*, cannot be told apart, catapult*,
        catch up, catches up, caught up, ceiling, change nothing, changed nothing, changes nothing, cheaper, cheapest,
        chew through, chews through, choke on, choke*, churn out, churns out, clear win, clear winner, cliff, close
        most, close the gap, close to nothing, close to peak, closes most, closes the gap, coarser, come cheap, come
        close to, come on top, come out ahead, come out better, come out on top, come out worse, come with a, come
        with an, comes cheap, comes close to, comes for free, comes on top, comes out ahead, comes out better, comes
        out on top, comes out worse, comes with a, comes with an, commodity hardware, communication efficient, compete
        for, competes for, compute efficient, congest*, consumer hardware, contend for, contends for, contribute
        nothing, contributed nothing, contributes nothing, converged just like, converges better, converges just like,
        converges worse, copes better, cost as much, cost dearly, cost less, cost little, cost more, cost nothing,
        cost-efficient, costlier, costs a lot, costs as much, costs dearly, costs less, costs little, costs more,
        costs nothing, could not tell, crawl, crawled, crawls, cripple*, crowd out, crowds out, cut corners, cut in
        half, cuts corners, cuts in half, days instead, dead heat, dead slow, dead time, dead weight, dearer, defeat
        the purpose, defeats the purpose, degrade*, dent*, derail*, deteriorate*, devour*, did better, did not help,
        did nothing for, did worse, diminishing returns, diverge*, do better, do not duplicate, do not expect anything
        from, do not help, do not pay off, do nothing for, do worse, does better, does its best, does not come for
        free, does not duplicate, does not help, does not pay off, does nothing for, does worse, dominate, dominates,
        doubled, doubles, down the drain, dozens of times, drags on, draw level, draws level, drop in accuracy,
        drop-off, drowns, duplicated work, duplicates, dwarf*, earn its keep, earns its keep, easily absorbed, easy
        win, eat up, eats up, eclipse*, edge out, edges out, effortless, effortlessly, eightfold, eke out, ekes out,
        end up behind, ends up behind, equal footing, every last drop, exceed the, exceeds the, excel*, excess
        baggage, exhaust the, exhausts the, explode, exploded, explodes, fall apart, fall behind, fall off, fall
        short, falls apart, falls behind, falls off, falls off a, falls short, falter*, far ahead, far behind, far
        better, far cry, far less, far more efficient, fare better, fare worse, fared better, fared worse, fares
        better, fares worse, faster, faster than, fastest, fell behind, fell off, fell short, fight over, fights for,
        fit comfortably, fits comfortably, flat out, flies, flounder*, foot the bill, foots the bill, for free, for
        nothing, for the money, fourfold, free lunch, front-runner, full speed, gain little, gain much, gain nothing,
        gains ground, gains little, gains much, gains nothing, game changer, gentle on memory, get by with, get more
        out of, gets better, gets by with, gets in the way, gets more out of, gets slower, gets worse, go to waste,
        gobble*, goes to waste, gratis, grinds, grinds to, ground to, guzzle*, half as fast, half as long, half as
        many, half as much, half asleep, half the size, hands down, hardly any difference, hardly help, hardly helps,
        hardly matter, hardly matters, hardly pays, hardly worth, has an edge, has the edge, hasten*, have the edge,
        head and shoulders, head start, headwind, held back, held its own, help little, help most, help only, helped a
        lot, helped little, helped most, helps a lot, helps little, helps most, helps only, hidden cost, hidden costs,
        hobble*, hog*, hold back, hold their own, hold them up, hold up against, holds back, holds its own, holds them
        up, holds up against, hours instead, huge gain, huge gains, hundredfold, hungrier, hungry for memory, hurt,
        hurting, hurts, hurts most, idle, idle at any, idle cycles, idle most of, idled, idles, impractical, in a
        fraction, in its favor, in its favour, in next to no, in no time, in reach, in the dust, in the noise, in
        vain, inches along, indistinguishable, inefficient, inefficiently, infeasible, instantaneous, instantly,
        instead of days, instead of hours, instead of minutes, intractable, is better, is negligible, is worse, just
        fits, keep pace, keep up, keep up with, keeps pace, keeps up, keeps up with, kept pace, kept up, kept up with,
        killer, kills, lag behind, laggard, lagged, lags, lags behind, languish*, large gain, large gains, law of
        diminishing, lay idle, leads by, leaner, leave behind, leaves behind, left behind, left idle, less accurate,
        less costly, less efficient, less efficiently, less expensive, less memory-efficient, less precise, less prone
        to, less robust, less stable, lets down, lie idle, lies idle, light years, lightning-fast, likely better,
        limps, line rate, linear scaling, linear speedup, little benefit, little difference, little gain, little
        gains, little use, longer than it saves, loses ground, loses out, loss in accuracy, loss of accuracy, loss of
        quality, lossless, lost ground, made do with, made it feasible, made no difference, main gain, make do with,
        make little difference, make no difference, make the most of, makes do with, makes it feasible, makes little
        difference, makes no difference, makes sense only, makes the most of, measured win, memory hog, memory-hungry,
        miles ahead, minutes instead, modest gain, modest gains, monopolise*, monopolize*, more accurate, more
        beneficial, more costly, more economical, more efficient, more efficiently, more expensive, more faithful,
        more memory-efficient, more optimal, more performant, more precise, more prone to, more quickly, more robust,
        more slowly, more stable, more than doubles, most accurate, most economical, most efficient, most efficiently,
        most expensive, most frugal, most memory-efficient, most optimal, most performant, much better, much bigger
        than, much less, munch*, near line, near peak, near-linear scaling, nearly doubles, nearly halves, nearly
        linearly, neck and neck, neck-and-neck, needless tax, needlessly, net loss, net win, next to nothing, nimbler,
        no advantage, no adverse, no benefit, no benefits, no better, no catch, no different from, no different than,
        no faster, no gain, no gains, no help, no improvement, no improvements, no later than, no longer fits, no
        match for, no measurable, no quicker, no real difference, no recompilation, no slower, no sooner, no speedup,
        no use, no worse, noisier, nosedive*, not worth, not worth the, nothing to be gained, nothing tops,
        numerically stable, of little use, of no help, of no use, of the space, on a par, on par, on par with, on the
        table, only pays, order of magnitude, orders of magnitude, out of reach, outclass*, outdo, outdoes, outpace*,
        outperform*, outran, outrun, outruns, outstrip, outstrips, outweigh*, overhead, overheads, overkill,
        overpriced, overshadow*, oversubscribed, oversubscription, overtake, overtakes, overtook, overwhelm*, paid for
        itself, paid off, painfully, pay dividends, pay for itself, pay for long, pay off, pays dividends, pays for
        itself, pays for long, pays more, pays off, pays only, peerless, penalise*, penalize*, percent behind, perform
        alike, perform better, perform comparably, perform similarly, perform the same, perform well, perform worse,
        performance degradation, performed the same, performs alike, performs better, performs comparably, performs
        similarly, performs the same, performs well, performs worse, plod*, plummet*, point of diminishing,
        pointlessly, poorly, practically nothing, pricey, pricier, process more, processes more, profit from, profit
        most, profit the most, profits, profits most, prohibitively, prone to fragmentation, propel*, pull ahead, pull
        its weight, pulls ahead, pulls its weight, quadrupled, quadruples, quality degradation, quality loss, quicker,
        quickest, races through, rack up, racks up, real gain, reap*, redundant work, redundantly, remains idle,
        rivals, rob*, roofline of, room to spare, roughly doubles, roughly halves, runs dry, sails through, sat idle,
        saturate, saturate the gpu, saturated, saturates, save little, saves a lot, saves little, saves much, saves
        nothing, saving is, savings are, scale better, scale linearly, scale poorly, scale to any, scale well, scales
        badly, scales better, scales linearly, scales poorly, scales to any, scales well, second to none, seconds
        instead, serve more, serves more, set you back, sets you back, shine, shines, shone, shortchange*, silver
        bullet, sit idle, sits idle, skyrocket*, slow down, slow-down, slowdown, slowdowns, slowed, slowed down,
        slower, slowest, slowing, slowing down, slows, slows down, slows things down, slows to, sluggishly, small
        gain, small gains, smoothly, snail's pace, snappier, soar*, sooner, spared, spares, sped up, speed up,
        speed-up, speed-ups, speedier, speeding up, speeds things up, speeds up, speedup*, spend most of, spends most
        of, spent on pad, squander*, stalled, stalling, stalls, stand idle, stands idle, stands no chance, starve*,
        stay idle, stays idle, steady-state win, stop growing, stopped creeping, stopped growing, stopped rising,
        stops creeping, stops growing, stops rising, streets ahead, struggle*, stumble*, stutters, suffer from, suffer
        most, suffer*, suffers badly, suffers from, suffers most, supercharge*, surcharge, surpass*, sweet, sweet
        spot, take hours, take longer, take minutes, take their toll, takes ages, takes days, takes forever, takes
        hours, takes its toll, takes longer, takes minutes, takes the crown, takes the pressure off, tanked, tanks,
        tell apart, ten times, tenfold, than otherwise, thanks to the smaller, that otherwise, the benefit is, the
        benefits are, the gain, the gains, the saving, the savings, thrash*, threefold, thriftier, throttled,
        throttles, thrown in, tie up, tied up, ties up, times over, to no avail, to spare, to the last bit, to the
        last digit, tolerate a, tolerates a, took longer, torpedo*, toss-up, trailed, trails, tripled, triples,
        trounce*, turbocharge*, twice as, twice as much, twice over, twice what, two-fold, twofold, ultra-fast,
        unaffected, under-utilised, under-utilized, undercut, undercuts, underused, underutilisation, underutilised,
        underutilization, underutilized, unequalled, unharmed, unimpaired, unmatched, unnecessarily, unscathed,
        unthinkable, untouched, unusable, uphill, value for money, virtually nothing, wall time, wall-clock win, was
        worth, waste*, wasted work, wasteful, wear out, weigh down, weigh on, weighs down, weighs heavily, weighs on,
        went to waste, which otherwise, whole gain, win back, win out, winner, wins, wins back, wins by, wins out,
        within a hair, within error, within noise, within reach, within the noise, without a hitch, without a penalty,
        without breaking a sweat, without giving up, without paying, won back, won out, work better, work worse, works
        better, works worse, worse than, worsen*, worst of all, worst performer, worst-performing, worth every, worth
        it, worth its, worth the cost, worth the overhead, worth the price, wring*, zips through
    """,
    # How much, near what it compares.
    "degree": """
        added, additional, appreciable, avoidable, bad, best, better, between them, bigger, blazing, brisk, cheap,
        cheaper, cheapest, cleaner, coarser, comparable, competitive, considerable, costlier, costly, dearer, decent,
        disappointing, discernible, double-digit, dramatic, drastic, efficient, eightfold, enormous, excellent,
        exceptional, excess, excessive, expensive, extra, extraordinary, fast, faster, fastest, fewer, fewest, finer,
        fivefold, fourfold, fuller, good, great, greater, heavier, heaviest, hefty, high, higher, highest, huge,
        imperceptible, impressive, improved, increased, inefficient, inferior, insignificant, larger, largest, leaner,
        leanest, least, less, lesser, lighter, lightest, lightning-fast, little, longer, longest, lossless, low,
        lower, lowest, major, marginal, massive, measurable, mediocre, milder, minimal, minor, modest, more,
        near-linear, near-perfect, needless, negligible, noisier, notable, noticeable, noticeably, of what, optimal,
        outstanding, perceptible, poor, quick, quicker, quickest, rapid, reduced, redundant, remarkable, respectable,
        serious, severe, shakier, shorter, shortest, significant, sixfold, sizable, sizeable, slight, slimmer, slow,
        slower, slowest, sluggish, smaller, smallest, smoother, snappier, steadier, steep, steeper, stellar, stiff,
        strong, substantial, superfluous, superior, superlinear, surplus, swift, tenfold, thinner, threefold, tighter,
        tightest, tinier, tiniest, tiny, top-notch, trivial, twofold, ultra-fast, unacceptable, undue, unmatched,
        unnecessary, unparalleled, unrivaled, unrivalled, unstable, vast, wasted, weak, worse, worst
    """,
    # After "is": says of what stands before it that it is better or worse.
    "rank": """
        abysmal, acceptable, avoided, bad, best, better, bigger, cheaper, close to, coarser, comparable, competitive,
        considerable, constant, cut, dearer, degraded, dismal, double, doubled, eliminated, enormous, equal,
        excellent, far from, faster, flat, gone, good, greater, half, halved, heavier, hidden, high, higher, highest,
        huge, identical, imperceptible, impressive, improved, increased, indistinguishable, inferior, insignificant,
        intact, invisible, larger, largest, less, lighter, linear, longer, lost, low, lower, lowered, lowest,
        maintained, marginal, massive, mediocre, minimal, minimised, minimized, minuscule, modest, more, near-linear,
        near-perfect, negligible, noisier, noticeable, on par, optimal, outstanding, poor, preserved, prohibitive,
        quadratic, recovered, reduced, restored, retained, sacrificed, saved, shorter, significant, similar, slower,
        smaller, smallest, steady, sublinear, substantial, superior, the same, tighter, tiny, tripled, trivial, twice,
        unacceptable, unaffected, unchanged, unmatched, unnoticeable, unrivalled, untouched, worse, worst
    """,
    # How strongly something changes, whatever it is.
    "strongly": """
        considerably, dramatically, drastically, greatly, markedly, massively, noticeably, severely, sharply,
        significantly, substantially
    """,
    # Most of something is gone, or counts in another number.
    "bulk": """
        a third of, all of the, almost all, half of, most of, nearly all, the bulk of, the lion's share, two thirds of
    """,
    "instead": """
        as opposed to, down from, in place of, instead of, rather than
    """,
    "numeral": """
        a dozen, eight, five, four, half, hundreds, nine, one, quadratic, quadratically, seven, six, ten, thousands,
        three, two
    """,
    # What is fast or slow as such.
    "quick": """
        cheap, costly, efficient, expensive, fast, high-throughput, inefficient, low-latency, memory-efficient,
        memory-saving, slow
    """,
    "thing": """
        algorithm, algorithms, alternative, alternatives, backend, decoding, fallback, format, formats,
        implementation, implementations, kernel, kernels, method, methods, operation, operations, optimizer, process,
        quantization, solution, technique
    """,
    # What a method does to a dimension.
    "change": """
        absorb*, accelerate*, add, added, adding, adds, affect, affects, aggravate*, alleviate*, ameliorate*,
        amortise*, amortize*, amplify*, ate, ate into, augment*, avoid*, balloon*, bloat*, blow up, blows up,
        bolster*, boost*, bring down, bring to a halt, bringing, brings down, brings up, brought, brought down,
        burden*, burn*, bypass*, can cost, capped, caps, cheapen*, choke*, chopped, chops, claw back, clawed back,
        claws back, clog*, compensate for, compensates for, compromise*, confine*, conserve*, constrain*, consume*,
        contaminate*, corrupt*, cost nothing, costing, costs, could cost, cripple*, crush*, curb*, curtail*, cushion*,
        cut, cuts, cutting, damage*, dampen*, decrease*, defeat*, deflate*, degrade*, delay*, deliver*, demand*,
        deplete*, depress*, destabilises, destabilizes, destroy*, devour*, diminish*, disrupt*, distort*, ditches, do
        away with, dodges, does away with, double*, drain*, drive down, drive up, drives down, drives up, duplicate*,
        dwarf*, ease*, eat into, eat up, eating, eating into, eats, eats into, eats up, economises, economize on,
        economizes, economizes on, elevate*, eliminate*, enhance*, enlarge*, entail*, erase*, erode*, escalate*, even
        out, evens out, evict*, exacerbate*, exceeds, exhaust*, expedite*, extend*, flatten*, force*, forfeit*, free
        up, freed, freeing, frees, gained, gains, gave up, give up, gives up, giving up, gobble*, guzzle, guzzles,
        halve*, hamper*, handicap*, harm*, hasten*, held down, held up, help, helped, helping, helps, hid, hide,
        hides, hiding, hinder*, hog*, hold down, hold up, holds down, holds up, hurt, hurting, hurts, impact*,
        impair*, impede*, impose*, improve*, increase*, incur*, incurred, incurring, inflate*, inflict*, inhibit*,
        introduce, introduces, introducing, jeopardise*, keep down, keep in check, keeps down, keeps in check, keeps
        low, kill*, knock off, knocked off, knocks off, leave unused, lends, lengthen*, lessen*, lift, lifted, lifts,
        lighten*, lose*, lost, lowered, lowering, lowers, magnify*, maintain*, makes better, makes up for, match*,
        maximise*, maximize*, may cost, might cost, minimise*, minimize*, mitigate*, multiplied, multiplies, nibble*,
        obviate*, occupy*, offset, offsets, optimise*, optimize, optimizes, optimizing, outweigh*, overload*,
        overwhelm*, paid, pare*, pay, paying, pays, penalise*, penalize*, plague*, pollute*, preserve*, prevent*,
        prolong*, protect*, prune*, push up, push*, pushes down, pushes up, put a strain on, put pressure on, puts a
        strain on, puts pressure on, quadruple*, quarter the, quartered, quartering, quarters the, quicken*, raise*,
        ration*, reclaim*, recoup*, recover*, reduce, reduced, reduces, reducing, regain*, release*, relieve*,
        remedy*, remove*, repaid, repay*, repays, restore*, restrain*, retain*, retard*, ruin*, sacrifice*,
        safeguard*, salvage*, sap*, saturate*, save, saved, saves, saving, scale down, scales down, sharpen*, shave*,
        shed, sheds, shelter*, shield*, shorten*, shrank, shrink, shrinking, shrinks, sidestep*, skimp on, skimps on,
        skipped, skipping, skips, slacken*, slash*, sliced, slices, slim*, slimmed, slow*, smooth*, soak up, soaks up,
        soften*, spare*, speeds, spend, spends, spoil*, squander*, squeeze*, stabilise, stabilises, stabilize,
        stabilizes, starve*, steepen*, stifle*, strain*, streamline*, strengthen*, stretches, strip*, suppress*,
        swallow*, swamp*, swell*, take off, take pressure off, take up, takes off, takes pressure off, takes up,
        tame*, tax*, temper*, ties up, tighten*, took, took off, took up, top, tops, trade*, trim*, trimmed, trimming,
        triple*, undermine*, underutilise*, underutilize*, undid, undo, undoes, unlock*, use up, used up, uses up,
        waste*, weaken*, will cost, win back, wins, wins back, wipe out, wipes out, won, won back, worsen*, would
        cost, wreck, wrecks
    """,
    # The same of what shrinks or goes away with it.
    "reduce": """
        adds, avert*, avoid*, bypass*, cuts, decrease*, discard*, dispenses with, ditch*, do without, dodge*, does
        without, double*, duplicate*, economise on, economises on, eliminate*, evict*, forgo, forgoes, freed, freeing,
        frees, get rid of, gets rid of, halve*, inflates, lowering, lowers, make do with, makes do with, minimise*,
        minimize*, never builds, never forms, never holds, never materialises, never materializes, never needs, never
        stores, never writing, no need for, obviate*, quartered, quarters the, reduce, reduced, reduces, reducing,
        releases, remove*, saved, saves, shed*, shrank, shrink, shrinking, shrinks, sidestep*, skip, skips, slash*,
        spare*, speeds, squander*, trimmed, trims, triple*, wastes, without ever writing, without materialising,
        without materializing
    """,
    # Before a time.
    "take": """
        in, lasted, lasts, need, needed, needs, take, takes, taking, took, within
    """,
    # What a dimension does by itself.
    "shift": """
        are cut, are gone, are halved, are lost, are lowered, are reduced, balloon*, benefit*, bottom out, budges,
        came down, came out, climbed, climbs, collapse*, come out, comes down, comes out, crash*, creep*, crept,
        decay*, decline*, decreased, decreases, degrade*, deteriorate*, diminish*, dips, disappear*, diverges,
        doubled, doubles, drop, dropped, drops, drowns, dwindle*, edges down, edges up, evaporate*, explode*, fall,
        falling, falls, fell, flatten*, fluctuate*, go down, go up, goes away, goes down, goes up, grows by, halved,
        halves, held steady, hold steady, holds steady, improve*, inch up, increased, increases, is cut, is doubled,
        is gone, is halved, is lost, is lowered, is reduced, jumped, jumps, levels off, mushroom*, peak*, persist*,
        plateau*, plummet*, plunge*, profit*, quadrupled, quadruples, rebound*, remain, remained, remains, rise*,
        rocket*, rose, sank, saturates, shoot up, shoots up, shot up, shrank, shrink, shrinks, skyrocket*, slump*,
        soar*, spike, spiked, spikes, stagnate*, stay, stayed, stays, suffer, suffered, suffers, surge*, survives,
        swell, swells, tail off, tails off, taper off, tapers off, tick up, ticks up, tripled, triples, tumble*,
        vanish*, was lost, went away, went down, went up, wobble*, worsen*
    """,
    # A verdict on a method, after "is".
    "verdict": """
        a bad deal, a bargain, a blessing, a boon, a bottleneck, a breeze, a burden, a curse, a dead end, a disaster,
        a drag, a good deal, a killer, a liability, a loss, a luxury, a mistake, a net gain, a non-starter, a
        nuisance, a poor deal, a steal, a tax, a waste, a win, abysmal, advantageous, advisable, affordable, almost
        free, asleep, at its best, at its worst, awful, bandwidth-bound, basically free, beneficial, bloated, brisk,
        brittle, bulky, catastrophic, cheap, cheap enough, coarse, coarser, communication-efficient, compact,
        competitive, competitive with, compute-efficient, cost-effective, costly, counterproductive, crippling,
        critical for, dear, degraded, demanding, detrimental, dirt cheap, disadvantageous, disappointing, disastrous,
        dismal, easy on, economical, efficient, equivalent in, essentially free, excellent, excruciating, expensive,
        fast, fast enough, favorable, favourable, feasible, free of overhead, frugal, fruitless, futile, glacial, hard
        on, harmful, heavy on, hopeless, ideal for, idle, imperceptible, impractical, imprecise, impressive,
        inadvisable, indiscernible, indistinguishable, ineffective, inefficient, infeasible, inferior, insignificant,
        invisible, kind to, laggy, lean, light on, lightweight, lossless, lossy, marginal, meagre, mediocre,
        memory-bound, memory-efficient, memory-hungry, nearly free, negligible, nimble, noisier, noisy, not advisable,
        not free, optimal, outstanding, overkill, painful, painless, parameter efficient, parsimonious, performant,
        pointless, poor, possible on, practical only, practically free, profitable, prohibitive, prone to, punishing,
        quick, quite accurate, quite slow, rapid, redundant, responsive, ruinous, saturated, slow, slow enough,
        sluggish, snappy, speedy, starved, suboptimal, suited for speed, superb, superfluous, superior, swift,
        terrible, the bottleneck, the fastest, the loser, the runner-up, the same thing, the slowest, the winner,
        thrifty, throttled, tolerable, too expensive, too slow, trivial, unacceptable, unaffordable, unbeatable,
        underused, underutilised, underutilized, underwhelming, undetectable, unfavorable, unfavourable, unnoticeable,
        unprofitable, unstable, unusable, unviable, unwise, useless, virtually free, wasteful, wasteful of, wise only,
        within noise, worthless, worthwhile
    """,
    "copula": """
        are, aren't, be, became, become, becomes, been, being, gets, is, isn't, it's, make, makes, proved, proves,
        remain, remains, seems, stay, stays, was, were
    """,
    # "no loss", "without extra memory", "the same speed"
    "none": """
        almost no, barely, don't expect, don't see, hardly, hardly any, near-zero, nearly no, no, see no, without,
        without any, won't see, won't see any, zero
    """,
    "same": """
        comparable, equal, equally, equivalent, identical, same, similar, unchanged
    """,
    "merit": """
        accuracy, accuracy drop, accuracy loss, advantage, affecting, answers, bandwidth, bits, change in, cheap,
        communication, compromise, compromising, compute, convergence, copy, copying, cost, cost in, costs, decrease
        in, degradation, degrading, difference in, difference to, differences, disk space, drop, drop in, efficiency,
        energy, fast, final loss, footprint, gain, gains, hit, hurting, impact, impact on, increase in, influence on,
        latency, latency penalty, losing, loss, loss curve, loss of, memory, memory usage, outcome, outputs, overhead,
        pace, peak, peak memory, penalty, penalty in, performance, perplexity, precision, predictions, price, quality,
        quality drop, quality loss, recompilation, recompilations, recompute, regression, runtime, sacrificing,
        savings, scores, slowdown, slowing, speed, speedup, speedups, stall, stalls, throughput, time, trade-off,
        traffic, transcripts, wait
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
    # What makes a burden, or takes one away.
    "cause": """
        add*, at the risk of, avoid*, bear, bears, bring, brings, brought, came with, carried, carries, carry, cause*,
        come with, comes with, create*, do away with, does away with, eliminate*, end in, ends in, entail*, escape*,
        fight*, force*, free of, get rid of, gets rid of, had, has, have, hide*, impose*, incur*, introduce*, invite*,
        involve*, is free of, lead to, leading to, leads to, led to, mean, means, meant, minimise*, minimize*, no,
        paid, pay*, pays, prevent*, produce*, prone to, provoke*, remove*, result in, resulted in, resulting in,
        results in, risk*, rule out, rules out, run into, runs into, skip*, subject to, suffer from, suffers from,
        trigger*, without
    """,
    "burden": """
        accuracy drop, accuracy loss, bottleneck, bottlenecks, bubble, bubbles, communication, congestion, contention,
        copying, cost, costs, degradation, delays, divergence, duplication, extra copies, extra copy, extra pass,
        fragmentation, graph break, graph breaks, host-device copies, idle time, instability, jitter, latency penalty,
        latency spikes, loss of, loss spikes, memory spikes, out-of-memory errors, overhead, overheads, padding waste,
        penalties, penalty, performance penalty, preemption, preemptions, price, quality loss, recompilation,
        recompilations, recomputation, redundancy, round trip, round trips, second copy, slow-down, slowdown,
        slowdowns, spikes, stall, stalls, stutter, swapping, synchronisation, synchronisations, synchronization,
        synchronizations, thrashing, throttling, transfer, transfers, underflow, wait, waiting, waste
    """,
    "make": """
        compile, compiles, converge, converged, converges, get, gets, keep, keeps, kept, leave, leaves, left, load,
        loaded, loads, made, make, makes, making, perform, performed, performs, ran, render, rendered, renders, run,
        runs, train, trained, trains
    """,
    "let": """
        allow*, bring within, brings within, enable*, enough, feasible, get by, gets by, let, lets, letting, make
        room, makes room, permit*, possible, squeeze*, suffice*
    """,
    # A work, and what makes it shorter or longer.
    "hasten": """
        accelerate*, bottleneck*, delay*, disrupt*, drag out, drags out, expedite*, hamper*, hasten*, held up,
        hinder*, hold up, holds up, impede*, lengthen*, prolong*, quicken*, retard*, shorten*, slow*, sped, speed*,
        stall*, streamline*, throttle*
    """,
    "process": """
        attention, backward, calibration, computation, convergence, decode, decoders, decoding, epoch, epochs,
        evaluation, everything, execution, fine-tuning, finetuning, forward, generation, inference, initialisation,
        initialization, kernels, launch, launches, loading, loop, matmuls, operations, pass, passes, pipeline,
        prefill, preprocessing, products, prompts, quantisation, quantization, requests, restart, restarts, run, runs,
        sampling, save, saves, saving, start-up, startup, step, steps, things, tokenisation, tokenization, training,
        users
    """,
    "nothing": """
        a great deal, a lot, almost nothing, hardly anything, little, next to nothing, not a thing, not much, nothing,
        very little
    """,
    # How much of a merit.
    "grade": """
        amazingly, comparably, comparatively, considerably, equally, especially, exceptionally, excessively,
        extremely, fairly, far, fully, highly, hugely, incredibly, least, less, more, most, much, noticeably,
        particularly, quite, rather, relatively, remarkably, significantly, similarly, slightly, so, somewhat,
        surprisingly, unusually, very, visibly
    """,
    "adjective": """
        accurate, advantageous, affordable, badly, bandwidth-efficient, bandwidth-hungry, beneficial, cache-friendly,
        cheap, cheaply, communication efficient, communication-efficient, compact, competitive, compute efficient,
        compute intensive, compute-efficient, compute-intensive, cost effective, cost efficient, cost-effective,
        cost-efficient, costly, damaging, demanding, detrimental, economical, economically, effective, effectively,
        efficient, efficiently, energy efficient, energy-efficient, energy-hungry, exact, expensive, faithful, fast,
        frugal, hardware-friendly, harmful, hungry, inefficient, inefficiently, lightweight, lossy, memory efficient,
        memory hungry, memory intensive, memory-efficient, memory-friendly, memory-hungry, memory-intensive,
        memory-saving, noisy, numerically stable, optimal, parameter efficient, performance-friendly, performant,
        poorly, power-hungry, precise, prohibitive, quick, quickly, rapid, rapidly, responsive, robust,
        sample-efficient, scalable, slow, slowly, sluggish, sparing, sparingly, stable, suboptimal, wasteful, well
    """,
    # Work that need not be done, or need not be done again.
    "spared": """
        are never, do not have to be, does not have to be, instead of being, is never, need no, need not be, needs no,
        never has to, never have to, never needs to be, no longer has to, no longer have to, no need for, not once,
        once instead of, only once, saves having to, without being, without ever, without having to
    """,
    "labour": """
        at once, computed again, computed twice, copied again, done again, exist, gathered again, held at once, loaded
        again, materialised, materialized, re-encoded, re-read, read twice, rebuilt, recompiled, recomputed,
        refetched, reprocessed, reread, retransmitted, stored twice
    """,
    "effect": """
        bearing on, effect on, effects on, impact on, impacts on, influence on
    """,
    "extra": """
        additional, another, brought, by, cost, costs, extra, further, gained, good for, saved, saves, within
    """,
    "place": """
        above, ahead, behind, below, off, over, short of, shy of, under
    """,
    "favour": """
        benefit, benefited, benefits, disadvantages, favors, favoured, favours, handicaps, help, helped, helps, hurts,
        penalises, penalizes, punish, punishes, reward, rewards, serves, suit, suits
    """,
    "flaw": """
        a must, blessing, blunder, boon, burden, catastrophe, champion, consumer, consumers, curse, disaster, drag,
        drain, eater, eaters, gift, godsend, guzzler, hog, hogs, hurdle, killer, mistake, monster, nightmare,
        obstacle, poison, saver, savers, sink, threat, trap, winner
    """,
    # Something is given for something else.
    "trade": """
        at the cost of, at the detriment of, at the expense of, at the price of, at the risk of, at the sacrifice of,
        bought with, come at a cost, come at the, comes at a cost, comes at a price, comes at the, compromise between,
        double-edged, for the price of, gives up some, hand over fist, in exchange, in return for, in return gives, in
        return it, in turn costs, paid with, pay with, paying with, pays with, price one pays, price to pay, price you
        pay, sacrifices, sacrificing, strikes a balance, the price for, the price is, the price of, the price you, to
        the detriment of, trades off, trading off, whose price
    """,
    "trading": """
        exchange, exchanges, trade, traded, trades, trading
    """,
    "for": """
        against, for
    """,
    # What a method makes possible.
    "enable": """
        accommodate*, admit, admits, afford, affords, allow, allowed, allowing, allows, becomes possible, bring
        within, brings within, can be processed, can be run, can be served, can be trained, can be used, can fit, can
        handle, can hold, can process, can run, can scale, can serve, can train, can train on, cope with, copes with,
        could fit, digest*, empower*, enable, enabled, enables, enabling, fine-tunes, fit, fit into, fits, fitted, get
        by, gets by, handle, handles, held, help you, helps you, hold, holds, host, hosts, ingest*, leaves room, let,
        lets, letting, made possible, make it possible, make room, make room for, makes, makes it possible, makes
        room, makes room for, open the door, opens the door, permit*, possible on, scale to, scale your, scales to,
        scaling potentially to, scaling to, serve, serves, squeeze, squeezes, sustain*, swallow*, trains, unlocks
    """,
    "capacity": """
        100k, 128k, 1m, 24 gb cards, 32k, 64k, a cheaper, a gaming card, a laptop, a notebook, a single card, a single
        gpu, a workstation, any one of them, beyond the limitations, bigger batch, bigger batch sizes, bigger batches,
        bigger model, bigger models, bigger sequence, commodity, concurrent requests, concurrent users, consumer card,
        consumer cards, consumer gpu, consumer gpus, double the batch, edge devices, effective batch size, entire
        model, existing hardware, far longer, fewer cards, fewer gpus, half the cards, half the gpus, higher batch,
        higher concurrency, higher resolution, higher resolutions, laptops, larger batch, larger batch sizes, larger
        batches, larger contexts, larger global batch, larger images, larger micro-batches, larger model, larger
        models, larger vocabulary, long sequences, longer context, longer contexts, longer document, longer documents,
        longer prompts, longer sequence, longer sequences, longer texts, million tokens, modest hardware, more
        clients, more concurrent, more experiments, more layers, more requests, more sequences, more users, much
        larger, much longer, older cards, older gpus, on 8 gb, on a laptop, on a phone, on a raspberry pi, on a
        workstation, one 24 gb card, one card, one device, one gpu, one node, one server, phone, same budget, same
        card, same device, same gpu, same hardware, same machine, several models, single card, single device, single
        gpu, small cards, smaller card, smaller cards, smaller gpu, smaller gpus, smartphone, smartphones, the entire,
        the whole, twice as many, twice the batch, twice the context, twice the users, whole model, without
        offloading, without sharding, without splitting, workstation
    """,
    "shortage": """
        exhausted memory, memory exhaustion, oom, oom error, oom errors, oom killer, oom-killed, ooming, ooms, out of
        memory, out-of-memory, out-of-memory error, out-of-memory errors, resource _ exhausted
    """,
    "escape": """
        avoid*, crash*, cure*, die with, died with, dies of, dies with, end in, ended in, ends, ends in, fewer, fixes,
        instead of, never, no more, otherwise die, otherwise end, prevent*, rescue*, survive*, would end
    """,
    "fraction": """
        a hundred times, double, eighteenth, eighth, fifth, fifths, five times, four times, half, hundredth, ninth,
        quarter, quarters, seventh, sixteenth, sixth, ten times, tenth, third, thirds, thousandth, three times,
        thrice, times as, times less, times more, times the, triple, twice, two times
    """,
    "contrast": """
        ->, against, as opposed to, became, by contrast, compared to, compared with, down from, down to, in contrast
        to, in place of, instead of, not, otherwise, rather than, than, the other takes, unlike, up from, versus, vs,
        where, whereas, while, without, →
    """,
    "either": """
        after, and, before, by, for, from, on, or, to, with
    """,
}
