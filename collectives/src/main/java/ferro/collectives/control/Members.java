package ferro.collectives.control;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.GroupEvent;
import ferro.collectives.control.Membership.Member;
import ferro.collectives.control.MembershipMessage.Lost;
import ferro.spi.GroupSpec;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.ObjIntConsumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The groups that want to hear of their ranks, in the order they came; each is told in its own numbers. */
final class Members {
    /** Stands in texts for the rank that they are about. */
    static final String RANK = "{rank}";

    /** Stands in texts where a machine and its silent ranks are told of. */
    private static final Pattern MACHINE = Pattern.compile("\\{silent ([0-9,]+) on ([^}]*)}");

    private static final Logger LOG = System.getLogger("ferro.membership");

    private final GroupSpec joined;
    private final List<Entry> entries = new CopyOnWriteArrayList<>();
    private final Map<Integer, Lost> losses = new TreeMap<>();

    /** A group and its ranks, in the numbers of the joined one. */
    private record Entry(Member member, int[] ranks) {
        int numberOf(int joinedRank) {
            for (int i = 0; i < ranks.length; i++) {
                if (ranks[i] == joinedRank) {
                    return i;
                }
            }
            return -1;
        }
    }

    private final Consumer<Lost> onLoss;
    private final IntConsumer onFound;
    private boolean troubleTold;

    /**
     * Makes it.
     *
     * @param joined  who
     * @param onLoss  told of a loss that was seen here, before the groups are
     * @param onFound told of a rank that was given up here and is heard of again
     */
    Members(GroupSpec joined, Consumer<Lost> onLoss, IntConsumer onFound) {
        this.joined = joined;
        this.onLoss = onLoss;
        this.onFound = onFound;
    }

    void add(Member member, int[] ranks) {
        entries.add(new Entry(member, ranks.clone()));
    }

    /** Returns whether none is left. */
    boolean remove(Member member) {
        entries.removeIf(entry -> entry.member == member);
        return entries.isEmpty();
    }

    /** A loss is seen here: tells the groups of that rank, and those that will be made of it. */
    void lost(int rank, Code code, String text) {
        Lost loss = new Lost(rank, code, text + " (seen by rank " + joined.rank() + " of \"" + joined.name() + "\")");
        onLoss.accept(loss);
        heardOf(loss);
    }

    /** Another rank has seen a loss. */
    void heardOf(Lost loss) {
        synchronized (losses) {
            losses.put(loss.rank(), loss);
        }
        entries.forEach(entry -> tell(entry, loss));
    }

    /** Tells a group that has just come what was lost before. */
    void tellLosses(Member member) {
        Map<Integer, Lost> known;
        synchronized (losses) {
            known = new TreeMap<>(losses);
        }
        for (Entry entry : entries) {
            if (entry.member == member) {
                known.values().forEach(loss -> tell(entry, loss));
            }
        }
    }

    boolean anyLost() {
        synchronized (losses) {
            return !losses.isEmpty();
        }
    }

    /** A rank that was given up because of its silence is heard of again: new groups may have it. */
    void found(int rank) {
        if (isFound(rank)) {
            onFound.accept(rank);
        }
    }

    /** As another rank says, or this one; what is known to be dead stays so. Returns whether it was given up. */
    boolean isFound(int rank) {
        synchronized (losses) {
            Lost loss = losses.get(rank);
            if (loss == null || loss.code() != Code.PARTITION) {
                return false;
            }
            losses.remove(rank);
        }
        forEachWith(rank, Member::found);
        return true;
    }

    void event(GroupEvent.Kind kind, int rank, String text) {
        forEachWith(rank, (member, number) -> member.event(kind, number, numbered(text, number)));
    }

    private void forEachWith(int rank, ObjIntConsumer<Member> call) {
        for (Entry entry : entries) {
            int number = entry.numberOf(rank);
            if (number >= 0) {
                guarded(entry, member -> call.accept(member, number));
            }
        }
    }

    void heartbeat() {
        entries.forEach(entry -> guarded(entry, Member::heartbeat));
    }

    private void tell(Entry entry, Lost loss) {
        int number = entry.numberOf(loss.rank());
        Matcher machine = MACHINE.matcher(loss.text());
        if (number >= 0 && machine.find()) {
            BitSet together = new BitSet();
            Names.set(machine.group(1), joined.worldSize()).stream()
                    .map(entry::numberOf)
                    .filter(rank -> rank >= 0)
                    .forEach(together::set);
            String text = machine.replaceFirst(Matcher.quoteReplacement(Machines.silence(machine.group(2), together)));
            Where where = Where.outside(joined.name(), joined.rank()).blaming(Names.list(together));
            FerroException cause = new FerroException(loss.code(), where, text);
            guarded(entry, member -> member.lostTogether(number, together, cause));
        } else if (number >= 0) {
            Where where = Where.outside(joined.name(), joined.rank()).blaming(Integer.toString(number));
            FerroException cause = new FerroException(loss.code(), where, numbered(loss.text(), number));
            guarded(entry, member -> member.lost(number, cause));
        }
    }

    /** Says that the ranks of a machine are silent, so that each group reads its own numbers. */
    static String silence(String machine, BitSet joinedRanks) {
        return "{silent " + Names.list(joinedRanks) + " on " + machine.replace('}', '?') + "}";
    }

    private static String numbered(String text, int number) {
        return text.replace(RANK, "rank " + number);
    }

    /** One group's trouble must not end the watch over the ranks of all. */
    private void guarded(Entry entry, Consumer<Member> call) {
        try {
            call.accept(entry.member);
        } catch (RuntimeException | Error broken) {
            trouble(broken);
        }
    }

    /** The watch goes on whatever was thrown, also for want of memory, which the log may want as well; once is enough. */
    void trouble(Throwable broken) {
        if (troubleTold) {
            return;
        }
        troubleTold = true;
        try {
            LOG.log(
                    Level.WARNING,
                    "rank " + joined.rank() + " of \"" + joined.name()
                            + "\": a group could not be told of its ranks, or they could not be looked after; the watch"
                            + " goes on",
                    broken);
        } catch (RuntimeException | Error unsaid) {
            broken.addSuppressed(unsaid);
        }
    }
}
