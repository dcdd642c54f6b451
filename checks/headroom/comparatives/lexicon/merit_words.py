"""Adjectives and phrases that call something better or worse.

The package's docstring describes the format.
"""

from typing import Final

MERITS: Final = {
    # Says by itself that one is better or worse.
    "comparative": """
        a big difference, a cut above, a drop in the ocean, a fraction of, a hair's breadth, a huge difference, a
        notch above, a rounding error, a snail, a tax, a tie, a wash, about doubles, about halves, absorbs,
        accelerated inference, accelerates, accelerating, accuracy degradation, accuracy loss, adverse effect, ahead
        by, ahead of, all but vanish, all but vanishes, all the difference, almost doubles, almost halves, almost in
        two, almost nothing, amortise*, amortize*, an hour of, an hour or more, any difference in, any faster, any
        slower, are better, are negligible, are no match, are worse, as accurate as, as cheap as, as costly as, as
        efficient as, as expensive as, as fast as, as good as, as much as, as quick as, as quickly, as quickly as, as
        slow as, as well as an, as well as full, at a fraction, at almost no cost, at full speed, at full tilt, at its
        limit, at little cost, at no additional cost, at no cost, at no extra cost, at peak, at the limit, ate up,
        avoid materializing, avoids materialising, avoids materializing, ballast, ballpark, bang for, barely any,
        barely fits, barely usable, bargain, beat, beating, beats, beefier, behaves just like, benefit greatly,
        benefit most, benefit the most, benefits greatly, benefits most, benefits the most, best choice, best of all,
        best of both worlds, best option, best performer, best-in-class, best-performing, better choice, better choice
        than, better fit, better option, better suited, better than, better use of, beyond compare, big gain, big
        gains, bit for bit, bit-for-bit, bit-identical, bites, blazing fast, bleeds, blew up, blow up, blows up,
        blunt*, bogged down, bogs down, bottleneck, bottlenecked, bottlenecks, bought me, bought nothing, bought only,
        bought us, break even, breaks down under, breaks even, breathing room, breeze through, breezes through, bring
        to its knees, bring up the rear, brings nothing, brings to its knees, brings up the rear, brought nothing,
        brought to its knees, buckle*, budget option, budget-friendly, burn through, burns through, busier, busywork,
        buy us, buys little, buys nothing, buys only, buys us, buys you, by a factor of, by a hair, by a mile, by a
        quarter, by a third, by a wide margin, by comparison, by far, by far the, by two thirds, came close to, came
        on top, came out ahead, came out better, came out worse, can't compete, cannibalise*, cannibalize*, cannot be
        told apart, cannot compete, catapult*, catch up, catches up, caught up, ceiling, change nothing, changed
        nothing, changes nothing, cheaper, cheapest, chew through, chews through, child's play, choke on, choke*,
        churn out, churns out, clear win, clear winner, cliff, close most, close the gap, close to nothing, close to
        peak, closes most, closes the gap, coarser, come cheap, come close to, come on top, come out ahead, come out
        better, come out on top, come out worse, come with a, come with an, comes cheap, comes close to, comes for
        free, comes on top, comes out ahead, comes out better, comes out on top, comes out worse, comes with a, comes
        with an, commodity hardware, communication efficient, compete for, compete with, competes for, competes with,
        compute efficient, congest*, consumer hardware, contend for, contends for, contribute nothing, contributed
        nothing, contributes nothing, converged just like, converges better, converges just like, converges worse,
        copes better, cost as much, cost dearly, cost less, cost little, cost more, cost nothing, cost-efficient,
        costlier, costs a lot, costs an arm, costs as much, costs dearly, costs less, costs little, costs more, costs
        nothing, could not tell, crawl, crawled, crawls, cripple*, crowd out, crowds out, cut corners, cut in half,
        cuts corners, cuts in half, day and night, days instead, dead heat, dead slow, dead time, dead weight, dearer,
        defeat the purpose, defeats the purpose, degrade*, dent*, derail*, deteriorate*, devour*, did better, did not
        help, did nothing for, did worse, diminishing returns, diverge*, do better, do not duplicate, do not expect
        anything from, do not help, do not pay off, do nothing for, do worse, does better, does its best, does not
        come for free, does not duplicate, does not help, does not pay off, does nothing for, does worse, dominant
        cost, dominate, dominates, doubled, doubles, down the drain, dozens of times, drags on, draw level, draws
        level, drop in accuracy, drop-off, drops in the, drowns, duplicated work, duplicates, dwarf*, earn its keep,
        earns its keep, easily absorbed, easy win, eat up, eats up, eclipse*, edge out, edges ahead, edges out,
        effortless, effortlessly, eightfold, eke out, ekes out, end up behind, ends up behind, equal footing, every
        last drop, excel*, excess baggage, exhaust the, exhausts the, explode, exploded, explodes, fall apart, fall
        behind, fall off, fall short, falls apart, falls behind, falls off, falls off a, falls short, falter*, far
        ahead, far behind, far better, far cry, far less, far more efficient, fare better, fare worse, fared better,
        fared worse, fares better, fares worse, faster, faster than, fastest, fell behind, fell off, fell short, fight
        over, fights for, fit comfortably, fits comfortably, flat out, flies, flounder*, flying, foot the bill, foots
        the bill, for a song, for free, for nothing, for the money, fourfold, free lunch, front-runner, full
        performance, full speed, full speed of, gain little, gain much, gain nothing, gains ground, gains little,
        gains much, gains nothing, game changer, gentle on memory, get by with, get more out of, gets better, gets by
        with, gets in the way, gets more out of, gets slower, gets worse, gives way to, go to waste, gobble*, goes to
        waste, good choice, gratis, grinds, grinds to, ground to, guzzle*, half again, half as fast, half as long,
        half as many, half as much, half asleep, half the price, half the size, hands down, hardly any difference,
        hardly help, hardly helps, hardly matter, hardly matters, hardly pays, hardly worth, has an edge, has no
        equal, has the edge, hasten*, have the edge, head and shoulders, head start, headwind, held back, held its
        own, help little, help most, help only, helped a lot, helped little, helped most, helps a lot, helps little,
        helps most, helps only, hidden cost, hidden costs, hobble*, hog*, hold back, hold their own, hold them up,
        hold up against, holds back, holds its own, holds them up, holds up against, hours instead, huge gain, huge
        gains, hundredfold, hungrier, hungry for memory, hurt, hurting, hurts, hurts most, idle, idle at any, idle
        cycles, idle most of, idled, idles, imperceptibly, impractical, in a different league, in a fraction, in
        another league, in its favor, in its favour, in next to no, in no time, in reach, in the dust, in the noise,
        in vain, inches along, indistinguishable, inefficient, inefficiently, infeasible, instantaneous, instantly,
        instead of days, instead of hours, instead of minutes, intractable, is better, is negligible, is no match, is
        worse, just fits, keep pace, keep up, keep up with, keeps pace, keeps up, keeps up with, kept pace, kept up,
        kept up with, killer, kills, lag behind, laggard, lagged, lags, lags behind, languish*, large gain, large
        gains, law of diminishing, lay idle, leads by, leaner, leave behind, leaves behind, left behind, left idle,
        less accurate, less costly, less efficient, less efficiently, less expensive, less memory-efficient, less
        precise, less prone to, less robust, less stable, lets down, lie idle, lies idle, light years, lightning fast,
        lightning-fast, likely better, limps, line rate, linear scaling, linear speedup, little benefit, little
        difference, little gain, little gains, little use, longer than it saves, lose to, loses against, loses ground,
        loses out, loses to, loss in accuracy, loss of accuracy, loss of quality, lossless, lost against, lost ground,
        lost to, made do with, made it feasible, made no difference, main gain, make do with, make little difference,
        make no difference, make the most of, makes do with, makes it feasible, makes little difference, makes no
        difference, makes sense only, makes short work, makes the most of, measurably, measured win, memory hog,
        memory hungry, memory-hungry, miles ahead, minutes instead, modest gain, modest gains, monopolise*,
        monopolize*, more accurate, more beneficial, more costly, more economical, more efficient, more efficiently,
        more expensive, more faithful, more memory-efficient, more optimal, more performant, more precise, more prone
        to, more quickly, more robust, more slowly, more stable, more than doubles, most accurate, most economical,
        most efficient, most efficiently, most expensive, most frugal, most memory-efficient, most optimal, most
        performant, much better, much bigger than, much less, much more optimized, munch*, narrower, near line, near
        peak, near-linear scaling, nearly doubles, nearly halves, nearly linearly, neck and neck, neck-and-neck,
        needless tax, needlessly, negligibly, net loss, net win, next to nothing, night and day, nimbler, no
        advantage, no adverse, no benefit, no benefits, no better, no catch, no different from, no different than, no
        faster, no gain, no gains, no help, no improvement, no improvements, no later than, no longer fits, no match
        for, no measurable, no quicker, no real difference, no recompilation, no rival, no slower, no sooner, no
        speedup, no use, no worse, noisier, nosedive*, not worth, not worth the, nothing to be gained, nothing tops,
        numerically stable, of little use, of no help, of no use, of the space, on a par, on a shoestring, on par, on
        par with, on the table, one-fifth, one-quarter, one-tenth, one-third, only pays, order of magnitude, orders of
        magnitude, out of proportion, out of reach, outclass*, outdo, outdoes, outpace*, outperform*, outran, outrun,
        outruns, outstrip, outstrips, outweigh*, overhead, overheads, overkill, overpriced, overshadow*,
        oversubscribed, oversubscription, overtake, overtakes, overtook, overwhelm*, paid for itself, paid off,
        painfully, pay dividends, pay for itself, pay for long, pay off, pays dividends, pays for itself, pays for
        long, pays more, pays off, pays only, peanuts, peerless, penalise*, penalize*, percent behind, perceptibly,
        perform alike, perform better, perform comparably, perform similarly, perform the same as, perform well,
        perform worse, performance degradation, performs alike, performs better, performs comparably, performs
        similarly, performs the same as, performs well, performs worse, plod*, plummet*, point of diminishing,
        pointlessly, poorly, practically nothing, preferable, pricey, pricier, process more, processes more, profit
        from, profit most, profit the most, profits, profits most, prohibitively, prone to fragmentation, propel*,
        pull ahead, pull its weight, pulls ahead, pulls its weight, quadrupled, quadruples, quality degradation,
        quality loss, quicker, quickest, races through, rack up, racks up, real gain, reap*, redundant work,
        redundantly, remains idle, rivals, rob*, roofline of, room to spare, roughly doubles, roughly halves, run
        circles around, runner-up, runs circles around, runs dry, sails through, sat idle, saturate, saturate the gpu,
        saturated, saturates, save little, saves a lot, saves little, saves much, saves nothing, saving is, savings
        are, scale better, scale linearly, scale poorly, scale to any, scale well, scales badly, scales better, scales
        linearly, scales poorly, scales to any, scales well, second best, second to none, seconds instead, serve more,
        serves more, set you back, sets you back, several hundred times, shine, shines, shone, shortchange*, silver
        bullet, sit idle, sits idle, skyrocket*, slow down, slow-down, slowdown, slowdowns, slowed, slowed down,
        slower, slowest, slowing, slowing down, slows, slows down, slows things down, slows to, sluggishly, small
        gain, small gains, smoothly, snail's pace, snappier, soar*, sooner, spared, spares, sped up, speed up,
        speed-up, speed-ups, speedier, speeding up, speeds things up, speeds up, speedup*, spend most of, spends most
        of, spent on pad, squander*, stalled, stalling, stalls, stand idle, stands idle, stands no chance, starve*,
        stay idle, stays idle, steady-state win, stop growing, stopped creeping, stopped growing, stopped rising,
        stops creeping, stops growing, stops rising, streets ahead, struggle*, stumble*, stutters, suffer from, suffer
        most, suffer*, suffers badly, suffers from, suffers most, supercharge*, surcharge, surpass*, sweet, sweet
        spot, take longer, take their toll, take time, takes ages, takes days, takes forever, takes its toll, takes
        longer, takes the crown, takes the pressure off, takes time, tanked, tanks, tell apart, ten times, tenfold,
        than otherwise, thanks to the smaller, that otherwise, the benefit is, the benefits are, the gain, the gains,
        the most out of, the saving, the savings, thrash*, threefold, thriftier, throttled, throttles, thrown in, tie
        up, tied up, ties up, times over, to no avail, to spare, to the last bit, to the last digit, tolerate a,
        tolerates a, took longer, torpedo*, toss-up, trailed, trails, tripled, triples, trounce*, trump, trumps,
        turbocharge*, twice as, twice as much, twice over, twice what, two-fold, twofold, ultra-fast, unaffected,
        under-utilised, under-utilized, undercut, undercuts, underused, underutilisation, underutilised,
        underutilization, underutilized, unequalled, unharmed, unimpaired, unmatched, unnecessarily, unscathed,
        unthinkable, untouched, unusable, uphill, value for money, virtually nothing, walks away with, wall time,
        wall-clock win, was worth, waste*, wasted work, wasteful, wear out, weigh down, weigh on, weighs down, weighs
        heavily, weighs on, went to waste, which otherwise, whole gain, win back, win out, winner, wins, wins against,
        wins back, wins by, wins out, wins over, within a hair, within error, within noise, within reach, within the
        noise, without a hitch, without a penalty, without breaking a sweat, without giving up, without paying,
        without rival, won against, won back, won out, won over, won't get the full, work better, work worse, works
        better, works worse, worse than, worsen*, worst of all, worst performer, worst-performing, worth every, worth
        it, worth its, worth the cost, worth the overhead, worth the price, wring*, zips through
    """,
    # How much, near what it compares.
    "degree": """
        added, additional, appreciable, avoidable, bad, best, better, between them, bigger, blazing, brisk, cheap,
        cheaper, cheapest, cleaner, coarser, comparable, competitive, considerable, costlier, costly, dearer, decent,
        disappointing, discernible, double-digit, dramatic, drastic, earlier, efficient, eightfold, enormous,
        excellent, exceptional, excess, excessive, expensive, extra, extraordinary, fast, faster, fastest, fewer,
        fewest, finer, fivefold, fourfold, fuller, good, great, greater, heavier, heaviest, hefty, high, higher,
        highest, huge, imperceptible, impressive, improved, increased, inefficient, inferior, insignificant, larger,
        largest, leaner, leanest, least, less, lesser, lighter, lightest, lightning-fast, little, longer, longest,
        lossless, low, lower, lowest, major, marginal, massive, measurable, mediocre, milder, minimal, minor, modest,
        more, near-linear, near-perfect, needless, negligible, noisier, notable, noticeable, noticeably, of what,
        optimal, optimised, optimized, outstanding, perceptible, poor, quick, quicker, quickest, rapid, reduced,
        redundant, remarkable, respectable, serious, severe, shakier, shorter, shortest, significant, sixfold,
        sizable, sizeable, slight, slimmer, slow, slower, slowest, sluggish, smaller, smallest, smoother, snappier,
        sooner, steadier, steep, steeper, stellar, stiff, strong, substantial, superfluous, superior, superlinear,
        surplus, swift, tenfold, thinner, threefold, tighter, tightest, tinier, tiniest, tiny, top-notch, trivial,
        twofold, ultra-fast, unacceptable, undue, unmatched, unnecessary, unparalleled, unrivaled, unrivalled,
        unstable, vast, wasted, weak, worse, worst
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
    # What is fast or slow as such.
    "quick": """
        cheap, costly, efficient, expensive, fast, high-throughput, inefficient, low-latency, memory-efficient,
        memory-saving, slow
    """,
    # A verdict on a method, after "is".
    "verdict": """
        a bad deal, a bargain, a blessing, a boon, a bottleneck, a breeze, a burden, a curse, a dead end, a disaster,
        a drag, a good deal, a killer, a liability, a loss, a luxury, a mistake, a net gain, a non-starter, a
        nuisance, a poor deal, a steal, a tax, a waste, a win, abysmal, advantageous, advisable, affordable, almost
        free, asleep, at its best, at its worst, awful, bandwidth-bound, basically free, beneficial, bloated, brisk,
        brittle, bulky, catastrophic, cheap, cheap enough, coarse, coarser, communication-efficient, compact,
        competitive, competitive with, compute-efficient, constant-time, cost-effective, costly, counterproductive,
        crippling, critical for, cubic, dear, degraded, demanding, detrimental, dirt cheap, disadvantageous,
        disappointing, disastrous, dismal, dominant, easy on, economical, efficient, equivalent in, essentially free,
        excellent, excruciating, expensive, fast, fast enough, favorable, favourable, feasible, frugal, fruitless,
        futile, glacial, hard on, harmful, heavy on, hopeless, ideal for, idle, imperceptible, impractical, imprecise,
        impressive, inadvisable, indiscernible, indistinguishable, ineffective, inefficient, infeasible, inferior,
        insignificant, invisible, kind to, laggy, lean, light on, lightweight, lossless, lossy, marginal, meagre,
        mediocre, memory-bound, memory-efficient, memory-hungry, nearly free, negligible, nimble, noisier, noisy, not
        advisable, not free, optimal, outstanding, overkill, painful, painless, parameter efficient, parsimonious,
        performant, pointless, poor, possible on, practical only, practically free, preferable, profitable,
        prohibitive, prone to, punishing, quadratic, quick, quite accurate, quite slow, rapid, redundant, responsive,
        ruinous, saturated, slow, slow enough, sluggish, snappy, speedy, starved, sublinear, suboptimal, suited for
        speed, superb, superfluous, superior, swift, terrible, the bottleneck, the fastest, the loser, the runner-up,
        the same thing, the slowest, the winner, thrifty, throttled, tolerable, too expensive, too slow, trivial,
        unacceptable, unaffordable, unbeatable, unbeaten, underused, underutilised, underutilized, underwhelming,
        undetectable, unfavorable, unfavourable, unmatched, unnoticeable, unprofitable, unrivalled, unstable,
        unusable, unviable, unwise, useless, virtually free, wasteful, wasteful of, wise only, within noise,
        worthless, worthwhile
    """,
    # What links a thing and its merit.
    "copula": """
        are, aren't, be, became, become, becomes, been, being, gets, is, isn't, it's, make, makes, proved, proves,
        remain, remains, seems, stay, stays, was, were
    """,
    # "no loss", "without extra memory", "the same speed"
    "none": """
        almost no, barely, don't expect, don't see, hardly, hardly any, near-zero, nearly no, no, see no, without,
        without any, won't see, won't see any, zero
    """,
    # Says that two are equal.
    "same": """
        comparable, equal, equally, equivalent, identical, same, similar, unchanged
    """,
    # What is the same, or is not there.
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
    # How much of a merit.
    "grade": """
        amazingly, comparably, comparatively, considerably, equally, especially, exceptionally, excessively,
        extremely, fairly, far, fully, highly, hugely, incredibly, least, less, more, most, much, noticeably,
        particularly, quite, rather, relatively, remarkably, significantly, similarly, slightly, so, somewhat,
        surprisingly, unusually, very, visibly
    """,
    # A merit or a fault, after how much of it.
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
    # Before a share that is won or lost.
    "extra": """
        additional, another, brought, by, cost, costs, extra, further, gained, good for, saved, saves, within
    """,
    # Where a share stands, before or behind.
    "place": """
        above, ahead, behind, below, off, over, short of, shy of, under
    """,
    # What a method is to a dimension.
    "flaw": """
        a must, blessing, blunder, boon, burden, catastrophe, champion, consumer, consumers, curse, disaster, drag,
        drain, eater, eaters, gift, godsend, guzzler, hog, hogs, hurdle, killer, mistake, monster, nightmare,
        obstacle, poison, saver, savers, sink, threat, trap, winner
    """,
}
