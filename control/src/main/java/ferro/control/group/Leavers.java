package ferro.control.group;

import ferro.FerroException.Code;
import ferro.control.failure.ControlMessage.Goodbye;
import ferro.control.failure.ControlMessage.Left;
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
 * The ranks that have left a group, as far as this rank knows: those that have said goodbye to it, and the lowest leaver of
 * all, of which all ranks hear. It forwards that one to the neighbours. A lower last collective is forwarded at once, because
 * calls fail because of it. Of an equal one a lower rank only changes the rank that an error names: it is forwarded a little
 * later, so that many ranks that leave one after the other cause few messages. Thread-safe.
 */
final class Leavers {
    /** The time in which ranks that leave together have said goodbye. */
    private static final long GOODBYES_NANOS = 50_000_000L;

    /** How much later a leaver of the same last collective is forwarded. */
    private static final long DELAY_NANOS = 50_000_000L;

    private final ControlSender sender;
    private final Timers timers;
    private final GroupSpec group;
    private final Machines machines;
    private final FailurePolicy rules;
    /** Goodbyes of the ranks that have said goodbye to this rank, or have closed their ends. */
    private final Map<Integer, Goodbye> left = new TreeMap<>();

    /** Ranks that were the lowest leaver on another rank. */
    private final Map<Integer, Left> heard = new TreeMap<>();

    /** Ranks that had left before a rank that has said goodbye to this rank. */
    private final BitSet earlier = new BitSet();

    /** Ranks that have left after the failure of a parent. */
    private final BitSet consequences = new BitSet();

    private volatile ParentFailure parents = ParentFailure.NONE;
    private volatile boolean any;
    private boolean refused;
    /** When this rank heard of the last leaver. */
    private long heardNanos;
    /** The lowest leaver that this rank knows, or null. */
    private volatile Left lowest;

    /** The last leaver that was forwarded, or null. */
    private Left sent;

    private boolean isScheduled;

    Leavers(ControlSender sender, Timers timers, Machines machines, FailurePolicy rules) {
        this.sender = sender;
        this.timers = timers;
        this.group = sender.group();
        this.machines = machines;
        this.rules = rules;
    }

    /** Sets the failure of the groups that this one was made of; a rank may have left before this rank has opened its end. */
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

    /** Returns the failure of the groups that this one was made of. */
    ParentFailure parentFailure() {
        return parents;
    }

    /** Adds a rank that has said goodbye to this rank, or has closed its end. Returns false if it was known. */
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

    /** Takes a leaver if it is lower than the lowest one that this rank knows. Returns whether it is. */
    boolean lower(Left leaver) {
        boolean isConsequence = parents.cause() != null;
        synchronized (this) {
            Left known = lowest;
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

    /** Returns whether any rank has left; costs one read. */
    boolean any() {
        return any;
    }

    /** Returns whether all other ranks have said goodbye to this rank. */
    synchronized boolean areAll() {
        return left.size() == group.worldSize() - 1;
    }

    /** Returns the time in which others may still say goodbye that leave together with the last leaver; 0 or less if none. */
    synchronized long remainingNanos() {
        return areAll() ? 0 : GOODBYES_NANOS - (timers.nanoTime() - heardNanos);
    }

    /** Returns the lowest leaver that this rank knows, or null; costs one read. */
    Left lowest() {
        return lowest;
    }

    /** Forwards the lowest leaver, which has changed. */
    void forward() {
        Left known = lowest;
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
        Left known = lowest;
        synchronized (this) {
            isScheduled = false;
            if (known.equals(sent)) {
                return;
            }
            sent = known;
        }
        send(known);
    }

    private void send(Left leaver) {
        BitSet receivers = sender.neighbours().ranks();
        receivers.clear(leaver.rank());
        receivers.stream().forEach(peer -> send(peer, leaver));
    }

    /**
     * Sends a leaver to one rank, and the failure of a parent before it: the rank may have left because of that failure, and
     * the receiver may hear of it on a longer way.
     */
    private void send(int peer, Left leaver) {
        parents.send(peer);
        sender.tell(peer, leaver);
    }

    /** Sends the lowest leaver, if there is one, to a rank that is a new neighbour. */
    void sendToNew(int peer) {
        Left known = lowest;
        if (known != null) {
            send(peer, known);
        }
    }

    /** Returns the lowest leaver if it has left without calling a collective, or -1; costs one read. */
    int before(long sequence) {
        Left known = lowest;
        return known != null && known.lastSequence() < sequence ? known.rank() : -1;
    }

    /** Returns all leavers that this rank knows to have left without calling a collective. */
    synchronized BitSet allBefore(long sequence) {
        BitSet ranks = new BitSet();
        all().stream()
                .filter(leaver -> leaver.isKnown() && leaver.lastSequence() < sequence)
                .forEach(leaver -> ranks.set(leaver.rank()));
        return ranks;
    }

    /** Returns whether no call was refused because of leavers before. */
    synchronized boolean isFirstRefused() {
        boolean isFirst = !refused;
        refused = true;
        return isFirst;
    }

    /** Returns the goodbye of a rank, or null if it has said none to this rank. */
    Goodbye of(int peer) {
        return any ? find(peer) : null;
    }

    private synchronized Goodbye find(int peer) {
        return left.get(peer);
    }

    /**
     * Returns whether a rank has said goodbye to this rank, or has closed its end. All other messages of the rank have come
     * before; news of its leave from other ranks may come earlier.
     */
    boolean hasSaidGoodbye(int peer) {
        return of(peer) != null;
    }

    /** Notes ranks that had left before a rank that has said goodbye to this rank. */
    synchronized void addEarlier(BitSet ranks) {
        earlier.or(ranks);
    }

    /** Returns whether this rank knows that another rank has left: by its goodbye, or by what others sent. */
    boolean has(int peer) {
        return any && isKnown(peer);
    }

    private synchronized boolean isKnown(int peer) {
        return left.containsKey(peer) || heard.containsKey(peer) || earlier.get(peer);
    }

    /** Returns what this rank knows of a leaver, or null if it knows of no leave. */
    Left leaver(int peer) {
        return any ? findLeaver(peer) : null;
    }

    private synchronized Left findLeaver(int peer) {
        Goodbye said = left.get(peer);
        Left told = heard.get(peer);
        // a goodbye that was not said has no numbers
        return told == null && said != null ? said.of(peer) : told;
    }

    /** Returns the ranks that have said goodbye to this rank. */
    synchronized BitSet ranks() {
        BitSet ranks = new BitSet();
        left.keySet().forEach(ranks::set);
        return ranks;
    }

    /** Returns the ranks that have left, as others say, and have not said goodbye to this rank. */
    synchronized BitSet withoutGoodbye() {
        BitSet ranks = (BitSet) earlier.clone();
        heard.keySet().forEach(ranks::set);
        ranks.andNot(ranks());
        return ranks;
    }

    /** Returns all leavers that this rank knows. */
    synchronized List<Left> all() {
        List<Left> all = new ArrayList<>(heard.values());
        left.forEach((peer, said) -> all.add(said.of(peer)));
        return all;
    }

    /**
     * Returns the failure of a call that cannot succeed without ranks that have left. If a parent had failed before, that
     * failure is the cause: a rank tells of a failure before it leaves.
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
        // the rank that saw the failure first may be no member: the other ranks would refuse a message with -1
        int origin = ofParent.origin() < 0 ? leaver : ofParent.origin();
        String text = text(leaver) + " after a failure " + ofParent.text();
        return new Failure(ofParent.code(), origin, -1, ofParent.culprits(), text, null);
    }

    /** Returns a text that says when a rank left: rank 0 left group "world" after seq 17. */
    String text(int peer) {
        BitSet alone = new BitSet();
        alone.set(peer);
        return text(alone);
    }

    /** Returns a text that says when ranks left: ranks 1, 2 left group "world" after seq 17, rank 3 after seq 18. */
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
        Left known = leaver(peer);
        if (known == null || !known.isKnown()) {
            return "";
        }
        return known.lastSequence() == 0 ? " before its first collective" : " after seq " + known.lastSequence();
    }
}
