package ferro.control.group;

import ferro.FerroException.Code;
import ferro.control.failure.ControlMessage.Goodbye;
import ferro.control.failure.ControlMessage.LeaveReport;
import ferro.control.failure.Failure;
import ferro.control.failure.FailurePolicy;
import ferro.control.failure.Machines;
import ferro.spi.GroupSpec;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.StringJoiner;
import java.util.TreeMap;

/**
 * The ranks that have left a group, according to this rank. A rank has left if it has sent a goodbye to this rank, or
 * if other ranks have forwarded its leave. The earliest leave is the leave with the lowest last collective. Of leaves
 * with equal last collectives, the leave of the lower rank is the earliest.
 *
 * <p>Only the earliest leave is forwarded to all ranks. This rank forwards the earliest leave to its neighbours. A
 * leave with a lower last collective is forwarded at once, because such a leave makes calls fail. A leave with an equal
 * last collective and a lower rank changes only the rank that an error names. A leave with an equal last collective is
 * forwarded a little later, so that many ranks that leave one after the other cause few messages. Thread-safe.
 */
final class Leavers {
    /** The time in which the goodbyes of ranks that leave together arrive. */
    private static final long GOODBYES_NANOS = 50_000_000L;

    /** The delay before a leave with an equal last collective is forwarded. */
    private static final long DELAY_NANOS = 50_000_000L;

    private final ControlSender sender;
    private final Timers timers;
    private final GroupSpec group;
    private final Machines machines;
    private final FailurePolicy rules;
    /** Goodbyes by rank, one for each rank that has sent a goodbye to this rank or has closed the group. */
    private final Map<Integer, Goodbye> left = new TreeMap<>();

    /** Leaves by rank. Each leave in this map was forwarded by a rank that knew no earlier leave. */
    private final Map<Integer, LeaveReport> heard = new TreeMap<>();

    /** Ranks whose leave was reported by the goodbye of another rank. */
    private final BitSet earlier = new BitSet();

    /** Ranks that have left this group after a parent of the group had failed. */
    private final BitSet consequences = new BitSet();

    private volatile ParentFailure parents = ParentFailure.NONE;
    private volatile boolean any;
    private boolean refused;
    /** The time at which the last leave arrived. */
    private long heardNanos;
    /** The earliest leave that has reached this rank, or null. */
    private volatile LeaveReport lowest;

    /** The last leave that was forwarded, or null. */
    private LeaveReport sent;

    private boolean isScheduled;

    Leavers(ControlSender sender, Timers timers, Machines machines, FailurePolicy rules) {
        this.sender = sender;
        this.timers = timers;
        this.group = sender.group();
        this.machines = machines;
        this.rules = rules;
    }

    /** Sets the failure of the parent groups. A rank may have left this group before this rank has opened it. */
    void madeOf(ParentFailure failures) {
        parents = failures;
        if (failures.cause() != null) {
            synchronized (this) {
                left.keySet().forEach(consequences::set);
                if (lowest != null) {
                    consequences.set(lowest.rank());
                }
            }
        }
    }

    /** Returns the failure of the parent groups. */
    ParentFailure parentFailure() {
        return parents;
    }

    /** Adds a rank that has sent a goodbye to this rank or has closed the group. Returns false for a known rank. */
    boolean add(int peer, Goodbye said) {
        boolean isConsequence = parents.cause() != null;
        synchronized (this) {
            if (left.putIfAbsent(peer, said) != null) {
                return false;
            }
            note(peer, isConsequence);
            return true;
        }
    }

    /** Records a leave that another rank has forwarded. Returns whether the leave is the earliest leave so far. */
    boolean lower(LeaveReport leaver) {
        boolean isConsequence = parents.cause() != null;
        synchronized (this) {
            LeaveReport known = lowest;
            if (leaver.rank() == group.rank()) {
                return false;
            }
            heard.put(leaver.rank(), leaver);
            if (known != null && rules.lowest(known, leaver) == known) {
                return false;
            }
            if (!left.containsKey(leaver.rank())) {
                note(leaver.rank(), isConsequence);
            }
            lowest = leaver;
            return true;
        }
    }

    private void note(int peer, boolean isConsequence) {
        consequences.set(peer, isConsequence);
        heardNanos = timers.nanoTime();
        any = true;
    }

    /** Returns whether any rank has left. This method costs one read. */
    boolean any() {
        return any;
    }

    /** Returns whether all other ranks have sent a goodbye to this rank. */
    synchronized boolean areAll() {
        return left.size() == group.worldSize() - 1;
    }

    /** Returns the rest of the time for goodbyes of ranks that leave together, in nanoseconds; 0 or less if over. */
    synchronized long remainingNanos() {
        return areAll() ? 0 : GOODBYES_NANOS - (timers.nanoTime() - heardNanos);
    }

    /** Returns the earliest leave that has reached this rank, or null. This method costs one read. */
    LeaveReport lowest() {
        return lowest;
    }

    /** Forwards the earliest leave after a change of the earliest leave. */
    void forward() {
        LeaveReport known = lowest;
        boolean isLater;
        synchronized (this) {
            isLater = sent != null && known.lastSequence() == sent.lastSequence();
            if (isLater && isScheduled) {
                return;
            }
            isScheduled |= isLater;
            sent = isLater ? sent : known;
        }
        if (isLater) {
            timers.later(this::sendLowest, DELAY_NANOS);
        } else {
            send(known);
        }
    }

    private void sendLowest() {
        LeaveReport known = lowest;
        synchronized (this) {
            isScheduled = false;
            if (known.equals(sent)) {
                return;
            }
            sent = known;
        }
        send(known);
    }

    private void send(LeaveReport leaver) {
        BitSet receivers = sender.neighbours().ranks();
        receivers.clear(leaver.rank());
        receivers.stream().forEach(peer -> send(peer, leaver));
    }

    /**
     * Sends the failure of a parent, and then a leave, to one rank. The leaving rank may have left because the parent
     * has failed. On its own path, the failure of the parent may reach the receiver later than the leave.
     */
    private void send(int peer, LeaveReport leaver) {
        parents.send(peer);
        sender.tell(peer, leaver);
    }

    /** Sends the earliest leave, if a rank has left, to a new neighbour. */
    void sendToNew(int peer) {
        LeaveReport known = lowest;
        if (known != null) {
            send(peer, known);
        }
    }

    /** Returns the rank of the earliest leave if that leave came before the given collective, or -1. Costs one read. */
    int before(long sequence) {
        LeaveReport known = lowest;
        return known != null && known.lastSequence() < sequence ? known.rank() : -1;
    }

    /** Returns all ranks that, according to this rank, have left without calling a given collective. */
    synchronized BitSet allBefore(long sequence) {
        BitSet ranks = new BitSet();
        all().stream()
                .filter(leaver -> leaver.isKnown() && leaver.lastSequence() < sequence)
                .forEach(leaver -> ranks.set(leaver.rank()));
        return ranks;
    }

    /** Returns true for the first call that is refused because ranks have left, and false for later calls. */
    synchronized boolean isFirstRefused() {
        boolean isFirst = !refused;
        refused = true;
        return isFirst;
    }

    /** Returns the goodbye of a rank, or null if this rank has received no goodbye from that rank. */
    Goodbye of(int peer) {
        return any ? find(peer) : null;
    }

    private synchronized Goodbye find(int peer) {
        return left.get(peer);
    }

    /**
     * Returns whether a rank has sent a goodbye to this rank, or has closed the group. All other messages of that rank
     * have arrived before its goodbye. The leave of a rank that other ranks forward may arrive before the goodbye of
     * the rank.
     */
    boolean hasSaidGoodbye(int peer) {
        return of(peer) != null;
    }

    /** Adds ranks whose leave the goodbye of another rank reported. */
    synchronized void addEarlier(BitSet ranks) {
        earlier.or(ranks);
    }

    /** Returns whether another rank has left, according to the goodbye of that rank or to other ranks. */
    boolean has(int peer) {
        return any && isKnown(peer);
    }

    private synchronized boolean isKnown(int peer) {
        return left.containsKey(peer) || heard.containsKey(peer) || earlier.get(peer);
    }

    /** Returns the leave of a rank, or null if no leave of that rank has reached this rank. */
    LeaveReport leaver(int peer) {
        return any ? findLeaver(peer) : null;
    }

    private synchronized LeaveReport findLeaver(int peer) {
        Goodbye said = left.get(peer);
        LeaveReport told = heard.get(peer);
        // a rank that closed the group without a goodbye has sent no numbers
        return told == null && said != null ? said.of(peer) : told;
    }

    /** Returns the ranks that have sent a goodbye to this rank. */
    synchronized BitSet ranks() {
        BitSet ranks = new BitSet();
        left.keySet().forEach(ranks::set);
        return ranks;
    }

    /** Returns the ranks that have left according to other ranks, and have not sent a goodbye to this rank. */
    synchronized BitSet withoutGoodbye() {
        BitSet ranks = (BitSet) earlier.clone();
        heard.keySet().forEach(ranks::set);
        ranks.andNot(ranks());
        return ranks;
    }

    /** Returns all leaves that have reached this rank. */
    synchronized List<LeaveReport> all() {
        List<LeaveReport> all = new ArrayList<>(heard.values());
        left.forEach((peer, said) -> all.add(said.of(peer)));
        return all;
    }

    /**
     * Returns the failure of a call that cannot succeed without ranks that have left. If a parent of the group had
     * failed before, the failure of the parent is the cause. A rank sends a failure before it leaves.
     */
    Failure cause(Set<Integer> peers, String needs) {
        OptionalInt consequence;
        synchronized (this) {
            consequence = peers.stream()
                    .mapToInt(peer -> peer)
                    .filter(consequences::get)
                    .findFirst();
        }
        Failure ofParent = consequence.isPresent() ? parents.cause() : null;
        if (ofParent == null) {
            return new Failure(Code.PEER_LOST, group.rank(), -1, peers, needs, null);
        }
        int leaver = consequence.getAsInt();
        // the origin may be outside this group, and the other ranks would refuse a message with origin -1
        int origin = ofParent.origin() < 0 ? leaver : ofParent.origin();
        String text = text(leaver) + " after a failure " + ofParent.text();
        return new Failure(ofParent.code(), origin, -1, ofParent.culprits(), text, null);
    }

    /** Describes when a rank left, for example: rank 0 left group "world" after seq 17. */
    String text(int peer) {
        BitSet alone = new BitSet();
        alone.set(peer);
        return text(alone);
    }

    /** Describes when ranks left, for example: ranks 1, 2 left group "world" after seq 17, rank 3 after seq 18. */
    String text(BitSet peers) {
        Map<String, BitSet> together = new LinkedHashMap<>();
        peers.stream()
                .forEach(peer -> together.computeIfAbsent(after(peer), when -> new BitSet())
                        .set(peer));
        StringJoiner text = new StringJoiner(", ");
        together.forEach((when, those) -> text.add(machines.named(those)
                + (text.length() == 0 ? " left group \"" + group.name() + "\"" : "")
                + (those.cardinality() > 1 ? when.replace("its", "their") : when)));
        return text.toString();
    }

    private String after(int peer) {
        LeaveReport known = leaver(peer);
        if (known == null || !known.isKnown()) {
            return "";
        }
        return known.lastSequence() == 0 ? " before its first collective" : " after seq " + known.lastSequence();
    }
}
