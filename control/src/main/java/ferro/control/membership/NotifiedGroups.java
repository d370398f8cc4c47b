package ferro.control.membership;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.GroupEvent;
import ferro.control.failure.Machines;
import ferro.control.membership.Membership.RankListener;
import ferro.control.membership.MembershipMessage.LossReport;
import ferro.control.wire.RankSetFormat;
import ferro.spi.GroupSpec;
import ferro.spi.PlainLoggers;
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

/** The groups that are notified about their ranks, in order of entry. Each group receives its own rank numbers. */
final class NotifiedGroups {
    /** The placeholder in a text for the rank that the text is about. */
    static final String RANK = "{rank}";

    /** The placeholder in a text for a machine and its silent ranks. */
    private static final Pattern MACHINE = Pattern.compile("\\{silent ([0-9,]+) on ([^}]*)}");

    private static final Logger LOG = PlainLoggers.logger("ferro.membership");

    private final GroupSpec joined;
    private final List<NotifiedGroup> entries = new CopyOnWriteArrayList<>();
    private final Map<Integer, LossReport> lostRanks = new TreeMap<>();

    /** A group and the numbers of its ranks in the joined group. */
    private record NotifiedGroup(RankListener member, int[] ranks) {
        int numberOf(int joinedRank) {
            for (int i = 0; i < ranks.length; i++) {
                if (ranks[i] == joinedRank) {
                    return i;
                }
            }
            return -1;
        }
    }

    private final Consumer<LossReport> onLoss;
    private final IntConsumer onFound;
    private boolean troubleTold;

    /**
     * Creates an empty list.
     *
     * @param joined  joined group and this rank
     * @param onLoss  called for a loss that this rank has detected, before this rank notifies the groups
     * @param onFound called for a rank that sends messages again after it counted as lost on this rank
     */
    NotifiedGroups(GroupSpec joined, Consumer<LossReport> onLoss, IntConsumer onFound) {
        this.joined = joined;
        this.onLoss = onLoss;
        this.onFound = onFound;
    }

    void add(RankListener member, int[] ranks) {
        entries.add(new NotifiedGroup(member, ranks.clone()));
    }

    /** Removes a group. Returns whether no group is left. */
    boolean remove(RankListener member) {
        entries.removeIf(entry -> entry.member == member);
        return entries.isEmpty();
    }

    /** Handles a loss that this rank has detected. Notifies groups of the lost rank, even later groups. */
    void lost(int rank, Code code, String text) {
        LossReport loss =
                new LossReport(rank, code, text + " (seen by rank " + joined.rank() + " of \"" + joined.name() + "\")");
        onLoss.accept(loss);
        heardOf(loss);
    }

    /** Records a loss that this rank or another rank has detected, and notifies the groups. */
    void heardOf(LossReport loss) {
        synchronized (lostRanks) {
            lostRanks.put(loss.rank(), loss);
        }
        for (NotifiedGroup entry : entries) {
            tell(entry, loss);
        }
    }

    /** Notifies a group that has just entered of the losses before its entry. */
    void tellLosses(RankListener member) {
        Map<Integer, LossReport> known;
        synchronized (lostRanks) {
            known = new TreeMap<>(lostRanks);
        }
        for (NotifiedGroup entry : entries) {
            if (entry.member == member) {
                known.values().forEach(loss -> tell(entry, loss));
            }
        }
    }

    boolean anyLost() {
        synchronized (lostRanks) {
            return !lostRanks.isEmpty();
        }
    }

    /** Handles a rank that was lost by silence and sends messages again. New groups may include the rank again. */
    void found(int rank) {
        if (isFound(rank)) {
            onFound.accept(rank);
        }
    }

    /**
     * Records that a rank sends messages again, according to this rank or another rank. A rank that is known to be dead
     * stays dead. Returns whether the rank had been lost because of its silence.
     */
    boolean isFound(int rank) {
        synchronized (lostRanks) {
            LossReport loss = lostRanks.get(rank);
            if (loss == null || loss.code() != Code.PARTITION) {
                return false;
            }
            lostRanks.remove(rank);
        }
        forEachWith(rank, (entry, number) -> entry.member.found(number));
        return true;
    }

    void event(GroupEvent.Kind kind, int rank, String text) {
        forEachWith(rank, (entry, number) -> entry.member.event(kind, number, numbered(text, number, entry)));
    }

    /** Logs an event about another rank in one line, even if the rank is in several groups. */
    void log(GroupEvent.Kind kind, int rank, String text) {
        for (NotifiedGroup entry : entries) {
            int number = entry.numberOf(rank);
            if (number >= 0) {
                guarded(entry, member -> member.log(kind, number, numbered(text, number, entry)));
                return;
            }
        }
    }

    private void forEachWith(int rank, ObjIntConsumer<NotifiedGroup> call) {
        for (NotifiedGroup entry : entries) {
            int number = entry.numberOf(rank);
            if (number >= 0) {
                guarded(entry, member -> call.accept(entry, number));
            }
        }
    }

    void heartbeat() {
        entries.forEach(entry -> guarded(entry, RankListener::heartbeat));
    }

    private void tell(NotifiedGroup entry, LossReport loss) {
        int number = entry.numberOf(loss.rank());
        Matcher machine = MACHINE.matcher(loss.text());
        if (number >= 0 && machine.find()) {
            BitSet together = new BitSet();
            RankSetFormat.set(machine.group(1), joined.worldSize()).stream()
                    .map(entry::numberOf)
                    .filter(rank -> rank >= 0)
                    .forEach(together::set);
            String text = machine.replaceFirst(Matcher.quoteReplacement(
                    Machines.silence(machine.group(2), named(together, entry), together.cardinality() == 1)));
            Where where = Where.of(joined.name(), joined.rank())
                    .blaming(together.stream().toArray());
            FerroException cause = new FerroException(loss.code(), where, text);
            guarded(entry, member -> member.silent(number, together, cause));
        } else if (number >= 0) {
            Where where = Where.of(joined.name(), joined.rank()).blaming(number);
            tell(entry, number, new FerroException(loss.code(), where, numbered(loss.text(), number, entry)));
        }
    }

    private void tell(NotifiedGroup entry, int number, FerroException cause) {
        if (cause.code() == Code.PARTITION) {
            BitSet alone = new BitSet();
            alone.set(number);
            guarded(entry, member -> member.silent(number, alone, cause));
        } else {
            guarded(entry, member -> member.gone(number, cause));
        }
    }

    /** Returns a placeholder for a machine and its silent ranks. Each group fills in its own rank numbers. */
    static String silence(String machine, BitSet joinedRanks) {
        return "{silent " + RankSetFormat.list(joinedRanks) + " on " + machine.replace('}', '?') + "}";
    }

    private String named(BitSet ranks, NotifiedGroup entry) {
        return Machines.named(RankSetFormat.numbers(ranks), entry.ranks, joined.name());
    }

    /** Puts the name of a rank into a text. A process id that follows the name comes into the name's parentheses. */
    private String numbered(String text, int number, NotifiedGroup entry) {
        BitSet alone = new BitSet();
        alone.set(number);
        String name = named(alone, entry);
        return name.endsWith(")")
                ? text.replace(RANK + " (", name.substring(0, name.length() - 1) + ", ")
                        .replace(RANK, name)
                : text.replace(RANK, name);
    }

    /** Calls a group and catches the exceptions of the call. An exception must not end the watch over all ranks. */
    private void guarded(NotifiedGroup entry, Consumer<RankListener> call) {
        try {
            call.accept(entry.member);
        } catch (RuntimeException | Error broken) {
            trouble(broken);
        }
    }

    /**
     * Logs the first exception, and ignores later exceptions. The watch over the ranks continues. Logging may fail too,
     * because the exception may be a lack of memory and the log needs memory.
     */
    void trouble(Throwable broken) {
        if (troubleTold) {
            return;
        }
        troubleTold = true;
        try {
            LOG.log(
                    Level.WARNING,
                    "rank " + joined.rank() + " of \"" + joined.name()
                            + "\": cannot notify a group about its ranks or check them; monitoring continues",
                    broken);
        } catch (RuntimeException | Error unsaid) {
            broken.addSuppressed(unsaid);
        }
    }
}
