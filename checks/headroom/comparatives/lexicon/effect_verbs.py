"""Verbs that describe a method's effect.

The package's docstring describes the format.
"""

from typing import Final

EFFECTS: Final = {
    # What a method does to a dimension.
    "change": """
        absorb*, accelerate*, add, added, adding, adds, affect, affects, aggravate*, alleviate*, ameliorate*,
        amortise*, amortize*, amplify*, ate, ate into, augment*, avoid*, balloon*, bloat*, blow up, blows up,
        bolster*, boost*, bring down, bring to a halt, bringing, brings down, brings up, brought, brought down,
        burden*, burn*, bypass*, can cost, cannibalise*, cannibalize*, capped, caps, cheapen*, choke*, chopped, chops,
        claw back, clawed back, claws back, clog*, compensate for, compensates for, compromise*, confine*, conserve*,
        constrain*, consume*, contaminate*, corrupt*, cost nothing, costing, costs, could cost, cripple*, crush*,
        curb*, curtail*, cushion*, cut, cuts, cutting, damage*, dampen*, decrease*, defeat*, deflate*, degrade*,
        delay*, deliver*, demand*, deplete*, depress*, destabilises, destabilizes, destroy*, devour*, diminish*,
        disrupt*, distort*, ditches, do away with, dodges, does away with, double*, drain*, drive down, drive up,
        drives down, drives up, duplicate*, dwarf*, ease*, eat into, eat up, eating, eating into, eats, eats into,
        eats up, economises, economize on, economizes, economizes on, elevate*, eliminate*, enhance*, enlarge*,
        entail*, erase*, erode*, escalate*, even out, evens out, evict*, exacerbate*, exceeds, exhaust*, expedite*,
        extend*, flatten*, force*, forfeit*, free up, freed, freeing, frees, gained, gains, gave up, give up, gives
        up, giving up, gobble*, guzzle, guzzles, halve*, hamper*, handicap*, harm*, hasten*, held down, held up, help,
        helped, helping, helps, hid, hide, hides, hiding, hinder*, hog*, hold down, hold up, holds down, holds up,
        hurt, hurting, hurts, impact*, impair*, impede*, impose*, improve*, increase*, incur*, incurred, incurring,
        inflate*, inflict*, inhibit*, introduce, introduces, introducing, jeopardise*, keep down, keep in check, keeps
        down, keeps in check, keeps low, kill*, knock off, knocked off, knocks off, leave unused, lends, lengthen*,
        lessen*, lift, lifted, lifts, lighten*, lose*, lost, lowered, lowering, lowers, magnify*, maintain*, makes
        better, makes up for, match*, maximise*, maximize*, may cost, might cost, minimise*, minimize*, mitigate*,
        multiply*, nibble*, obviate*, occupy*, offload the, offset, offsets, optimise*, optimize, optimizes,
        optimizing, outweigh*, overload*, overwhelm*, paid, pare*, pay, paying, pays, penalise*, penalize*, plague*,
        pollute*, preserve*, prevent*, prolong*, protect*, prune*, push up, push*, pushes down, pushes up, put a
        strain on, put pressure on, puts a strain on, puts pressure on, quadruple*, quarter the, quartered,
        quartering, quarters the, quicken*, raise*, ration*, reclaim*, recoup*, recover*, reduce, reduced, reduces,
        reducing, regain*, release*, relieve*, remedy*, remove*, repaid, repay*, repays, restore*, restrain*, retain*,
        retard*, ruin*, sacrifice*, safeguard*, salvage*, sap*, saturate*, save, saved, saves, saving, scale down,
        scales down, sharpen*, shave*, shed, sheds, shelter*, shield*, shorten*, shrank, shrink, shrinking, shrinks,
        sidestep*, skimp on, skimps on, skipped, skipping, skips, slacken*, slash*, sliced, slices, slim*, slimmed,
        slow*, smooth*, soak up, soaks up, soften*, spare*, speeds, spend, spends, spoil*, squander*, squeeze*,
        stabilise, stabilises, stabilize, stabilizes, starve*, steepen*, stifle*, strain*, streamline*, strengthen*,
        stretches, strip*, suppress*, swallow*, swamp*, swell*, take off, take pressure off, take up, takes off, takes
        pressure off, takes up, tame*, tax*, temper*, ties up, tighten*, took, took off, took up, top, tops, trade*,
        trim*, trimmed, trimming, triple*, unburden*, undermine*, underutilise*, underutilize*, undid, undo, undoes,
        unlock*, use up, used up, uses up, waste*, weaken*, will cost, win back, wins, wins back, wipe out, wipes out,
        won, won back, worsen*, would cost, wreck, wrecks
    """,
    # The same of what shrinks or goes away with it.
    "reduce": """
        adds, avert*, avoid*, bypass*, cuts, decrease*, discard*, dispenses with, ditch*, do without, dodge*, does
        without, double*, duplicate*, economise on, economises on, eliminate*, evict*, forgo, forgoes, freed, freeing,
        frees, get rid of, gets rid of, halve the, halve*, halves the, inflates, lowering, lowers, make do with, makes
        do with, minimise*, minimize*, never builds, never forms, never holds, never materialises, never materializes,
        never needs, never stores, never writing, no need for, obviate*, quartered, quarters the, reduce, reduced,
        reduces, reducing, releases, remove*, saved, saves, shed*, shrank, shrink, shrinking, shrinks, sidestep*,
        skip, skips, slash*, spare*, speeds, squander*, trimmed, trims, triple*, wastes, without ever writing, without
        materialising, without materializing
    """,
    # What a dimension does by itself.
    "shift": """
        are cut, are gone, are halved, are lost, are lowered, are reduced, balloon*, benefit*, bottom out, budges,
        came down, came out, climbed, climbs, collapse*, come out, comes down, comes out, crash*, creep*, crept,
        decay*, decline*, decreased, decreases, degrade*, deteriorate*, diminish*, dips, disappear*, diverges,
        doubled, doubles, drop, dropped, drops, drowns, dwindle*, ease*, ebb*, edges down, edges up, evaporate*,
        explode*, fall, falling, falls, fell, flatten*, fluctuate*, go down, go up, goes away, goes down, goes up,
        grows by, halved, halves, held steady, hold steady, holds steady, improve*, inch up, increased, increases, is
        cut, is doubled, is gone, is halved, is lost, is lowered, is reduced, jitter*, jumped, jumps, levels off,
        mount*, mushroom*, oscillate*, persist*, plateau*, plummet*, plunge*, profit*, quadrupled, quadruples,
        quintuple*, rebound*, recede*, regress*, remain, remained, remains, rise*, rocket*, rose, sag*, sank,
        saturates, shoot up, shoots up, shot up, shrank, shrink, shrinks, skyrocket*, slip*, slipped, slump*, soar*,
        spike, spiked, spikes, spiral*, stagnate*, stay, stayed, stays, stutter*, suffer, suffered, suffers, surge*,
        survives, swell, swells, tail off, tails off, tank*, taper off, tapers off, tick up, ticks up, tripled,
        triples, triplicate*, tumble*, vanish*, was lost, went away, went down, went up, wobble*, worsen*
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
    # What makes something fast or slow.
    "make": """
        compile, compiles, converge, converged, converges, get, gets, keep, keeps, kept, leave, leaves, left, load,
        loaded, loads, made, make, makes, making, perform, performed, performs, ran, render, rendered, renders, run,
        runs, train, trained, trains
    """,
    # What makes do with so many bytes.
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
    # How little is won or lost.
    "nothing": """
        a great deal, a lot, almost nothing, hardly anything, little, next to nothing, not a thing, not much, nothing,
        very little
    """,
    # Work that need not be done, or need not be done again.
    "spared": """
        are never, do not have to be, does not have to be, instead of being, is never, need no, need not be, needs no,
        never has to, never have to, never needs to be, no longer has to, no longer have to, no need for, not once,
        once instead of, only once, saves having to, without being, without ever, without having to
    """,
    # Before what is affected.
    "effect": """
        bearing on, effect on, effects on, impact on, impacts on, influence on
    """,
    # What is good or bad for some of the work.
    "favour": """
        benefit, benefited, benefits, disadvantages, favors, favoured, favours, handicaps, help, helped, helps, hurts,
        penalises, penalizes, punish, punishes, reward, rewards, serves, suit, suits
    """,
    # Something is given for something else.
    "trade": """
        at the cost of, at the detriment of, at the expense of, at the price of, at the risk of, at the sacrifice of,
        bought with, come at a cost, come at the, comes at a cost, comes at a price, comes at the, compromise between,
        double-edged, for the price of, gives up some, hand over fist, in exchange, in return for, in return gives, in
        return it, in turn costs, paid with, pay with, paying with, pays with, price one pays, price to pay, price you
        pay, sacrifices, sacrificing, strikes a balance, the price for, the price is, the price of, the price you, to
        the detriment of, trade-off, trade-offs, trade-offs between, tradeoff, trades off, trading off, whose price
    """,
    # Says that something is given.
    "trading": """
        exchange, exchanges, trade, traded, trades, trading
    """,
    # Before what is given.
    "for": """
        against, for
    """,
    # What a method makes possible.
    "enable": """
        accommodate*, admit, admits, afford, affords, allow, allowed, allowing, allows, becomes possible, bring
        within, brings within, can be processed, can be run, can be served, can be trained, can be used, can fit, can
        handle, can hold, can process, can run, can scale, can serve, can train, can train on, cope with, copes with,
        could fit, digest*, empower*, enable, enabled, enables, enabling, fine-tunes, fit, fit into, fits, fitted, get
        by, gets by, handle, handles, help you, helps you, host, hosts, ingest*, leaves room, let, lets, letting, made
        possible, make it possible, make room, make room for, makes, makes it possible, makes room, makes room for,
        open the door, opens the door, permit*, possible on, possible to, scale to, scale your, scales to, scaling
        potentially to, scaling to, serve, serves, squeeze, squeezes, sustain*, swallow*, trains, unlocks
    """,
    # What saves from a shortage.
    "escape": """
        avoid*, crash*, cure*, die with, died with, dies of, dies with, end in, ended in, ends, ends in, fewer, fixes,
        instead of, never, no more, otherwise die, otherwise end, prevent*, rescue*, survive*, would end
    """,
}
