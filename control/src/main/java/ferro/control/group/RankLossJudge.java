package ferro.control.group;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.control.failure.Failure;
import ferro.control.failure.FailureHints;
import ferro.control.failure.FailurePolicy;
import ferro.control.failure.Machines;
import ferro.control.wire.RankSetFormat;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.IntPredicate;

/**
 * The decisions about ranks that have died or become silent: which of these ranks fail the group, and which ranks are
 * lost so far. The ranks of one process die together, so this rank blames all of them together. A rank that detects the
 * end of one rank of a process waits a moment for the ends of the other ranks. A later end in the same process is part
 * of the same cause. Thread-safe.
 */
final class RankLossJudge {
    /**
     * The maximum number of waits for the other ranks of a process. When a process ends, the kernel closes the
     * connections of the process one after another. On a busy machine this may take long.
     */
    static final int PROCESS_WAITS = 15;

    /** The maximum number of waits for the other ranks of a machine. One rank of a machine may also end alone. */
    private static final int MACHINE_WAITS = 1;

    /**
     * The maximum number of waits for the proof that a rank whose connection has ended is dead. A broken data link
     * causes blame only after these waits for the proof.
     */
    private static final int PROOF_WAITS = 3;

    /** The number of waits for the report of an end. If no report comes, the other neighbours report the end. */
    private static final int REPORT_WAITS = 3;

    /** The time within which the neighbours of a dead rank send its death to all ranks, with or without a request. */
    private static final long UNEXPLAINED_NANOS = 250_000_000L;

    private static final int NOBODY = -1;

    private final int self;
    private final AgreedFailure failure;
    private final LinkLossJudge linkJudge;
    private final DeathNoticeSender further;
    private final GracefulExits exits;
    private final FailurePolicy rules;
    private final Machines machines;
    /** Ranks whose end this rank has detected, with or without an explanation. */
    private final BitSet ended = new BitSet();

    /** Ranks that are known to be dead. A rank in {@code ended} that is not in this set may be alive. */
    private final BitSet proven = new BitSet();

    private final BitSet dead = new BitSet();
    private final BitSet silent = new BitSet();
    private volatile Set<Integer> lost = Collections.emptySortedSet();
    /** Lost ranks that may have left before the loss. */
    private final Map<Integer, UndecidedLoss> unjudged = new TreeMap<>();

    /** The loss of a rank that may have left, and the last rank that was asked to judge the loss, or -1. */
    private record UndecidedLoss(Failure loss, int receiver) {}

    RankLossJudge(
            AgreedFailure failure,
            LinkLossJudge linkJudge,
            GracefulExits exits,
            FailurePolicy rules,
            Machines machines) {
        this.self = machines.self();
        this.failure = failure;
        this.linkJudge = linkJudge;
        this.further = new DeathNoticeSender(failure, linkJudge);
        this.exits = exits;
        this.rules = rules;
        this.machines = machines;
    }

    /** Runs the code for a death once without a death, so that a real death is not the first run of this code. */
    void warm() {
        machineOf(self, new BitSet());
        isOnePlaceOfMany(self);
        isOfTheSameDeath(processOf(self));
    }

    /** Returns the ranks that are lost so far, ascending; immutable. */
    Set<Integer> ranks() {
        return lost;
    }

    /**
     * Adds the culprits of a loss that are known to be dead to the lost ranks, and returns these culprits. A culprit
     * whose connection has ended but that may be alive is not included.
     */
    synchronized Set<Integer> blamed(Failure cause) {
        if (cause.code() != Code.PEER_LOST) {
            return Set.of();
        }
        Set<Integer> known = new TreeSet<>();
        for (int rank : cause.culprits()) {
            if (proven.get(rank)) {
                known.add(rank);
            }
        }
        addDead(known);
        return known;
    }

    /** Adds dead ranks that another rank has reported. */
    void died(Set<Integer> ranks) {
        Set<Integer> others = new TreeSet<>(ranks);
        others.remove(self);
        synchronized (this) {
            others.forEach(proven::set);
            addDead(others);
        }
        if (!further.areNone()) {
            further.heard(others);
        }
    }

    private void addDead(Set<Integer> ranks) {
        boolean isNew = false;
        for (int rank : ranks) {
            isNew |= !dead.get(rank);
            dead.set(rank);
        }
        if (isNew) {
            publish();
        }
    }

    /** Handles a rank that is dead, or a rank to which this rank has no usable connection any more. */
    void lost(int peer, FerroException cause) {
        if (cause.code() == Code.PEER_LOST) {
            synchronized (this) {
                proven.set(peer);
            }
            end(peer, cause);
        } else {
            giveUp(peer, cause);
        }
    }

    /** Handles a rank whose connection has ended. The rank may be alive, so it is blamed but does not count as lost. */
    void cutOff(int peer, FerroException cause) {
        end(peer, cause);
    }

    private void end(int peer, FerroException cause) {
        synchronized (this) {
            ended.set(peer);
        }
        if (!exits.neighbours().hasTimeToSayGoodbye(peer)) {
            // the neighbours of the rank determine whether the rank had left; if not, they send its death to this rank
            linkJudge.afterReading(() -> unexplained(peer, cause), UNEXPLAINED_NANOS);
        } else if (rules.eofGraceNanos() > 0) {
            linkJudge.afterReading(() -> judge(peer, cause), rules.eofGraceNanos());
        } else {
            blame(peer, cause, PROCESS_WAITS);
        }
    }

    /**
     * Handles the end of a rank that is not a neighbour, if the neighbours of that rank have sent no death. Reports the
     * loss to one of the neighbours of the ended rank.
     */
    private void unexplained(int peer, FerroException cause) {
        Failure known = failure.cause();
        if (known == null) {
            BitSet alone = new BitSet();
            alone.set(peer);
            report(peer, loss(cause, alone));
            linkJudge.afterReading(() -> stillUnexplained(peer), UNEXPLAINED_NANOS);
        } else {
            blamed(known);
        }
    }

    /** Records that a rank had left before its end, unless the group has failed in the meantime. */
    private void stillUnexplained(int peer) {
        Failure known = failure.cause();
        if (known == null) {
            exits.closed(peer);
            linkJudge.wake();
        } else {
            blamed(known);
        }
    }

    /** Sends the dead ranks that the failure does not name, except ranks whose goodbye was read after their end. */
    void sendDead() {
        BitSet known;
        synchronized (this) {
            dead.andNot(those(dead, exits::has));
            publish();
            known = (BitSet) dead.clone();
        }
        further.sendNew(known);
    }

    /** Sends the dead ranks that the failure does not name, once the culprits of the failure cannot change any more. */
    void failed() {
        sendDeadLater(UNEXPLAINED_NANOS);
    }

    private void sendDeadLater(long nanos) {
        if (!further.areNone() && !lost.isEmpty()) {
            linkJudge.afterReading(this::sendDead, nanos);
        }
    }

    /** Records that messages of a rank arrive again after the rank was silent for too long. */
    void found(int peer) {
        note(silent, peer, false);
        synchronized (this) {
            unjudged.remove(peer);
        }
    }

    /** Handles ranks that were silent for too long: the given rank, or all remaining ranks of its machine. */
    void silent(int peer, BitSet ranks, FerroException cause) {
        if (exits.mayBePresent(peer)) {
            note(silent, peer, true);
        }
        if (exits.neighbours().reports(peer)) {
            judgeSilence(peer, ranks, cause);
        } else {
            Runnable judging = () -> {
                if (isSilent(peer)) {
                    judgeSilence(peer, ranks, cause);
                }
            };
            linkJudge.afterReading(judging, (REPORT_WAITS + 1) * FailurePolicy.EOF_GRACE_NANOS);
        }
    }

    private synchronized boolean isSilent(int peer) {
        return silent.get(peer);
    }

    /** Blames silent ranks that have not left. Reports ranks that may have left to a rank that can determine this. */
    private void judgeSilence(int peer, BitSet ranks, FerroException cause) {
        BitSet blamed = those(ranks, this::isBlamed);
        if (blamed.get(peer)) {
            failure.failUnlessFailed(loss(cause, blamed));
        } else if (!failure.isKnown()) {
            report(peer, loss(cause, those(ranks, this::mayBeBlamed)));
        }
    }

    /** Reports the loss of a rank that may have left to a rank that can determine whether the lost rank has left. */
    private void report(int peer, Failure loss) {
        synchronized (this) {
            unjudged.put(peer, new UndecidedLoss(loss, NOBODY));
        }
        reportUnjudged();
    }

    private Failure loss(FerroException cause, BitSet blamed) {
        return new Failure(cause.code(), self, -1, RankSetFormat.numbers(blamed), cause.getMessage(), cause);
    }

    private static BitSet those(BitSet ranks, IntPredicate condition) {
        BitSet those = new BitSet();
        for (int rank = ranks.nextSetBit(0); rank >= 0; rank = ranks.nextSetBit(rank + 1)) {
            those.set(rank, condition.test(rank));
        }
        return those;
    }

    /**
     * For each lost rank that may have left, reports the loss to the next rank that is not gone. If the next rank has
     * left too, its goodbye or its medium shows the leave. If the next rank has left, this rank reports to the rank
     * after the next rank. A proven death is not reported, because the next rank detects the end of a dead rank itself.
     * With reports about deaths, the next rank would receive a report from every rank.
     */
    void reportUnjudged() {
        List<UndecidedLoss> reports = new ArrayList<>();
        synchronized (this) {
            if (unjudged.isEmpty()) {
                // without this return, a rank that joins would link the lambdas below
                return;
            }
            unjudged.keySet().removeIf(peer -> !mayBeBlamed(peer));
            unjudged.replaceAll((peer, before) -> {
                UndecidedLoss report =
                        new UndecidedLoss(before.loss, exits.neighbours().nextAfter(peer));
                boolean isNew = report.receiver != before.receiver;
                if (isNew && (report.receiver == self || !proven.get(peer))) {
                    reports.add(report);
                }
                return report;
            });
        }
        reports.forEach(this::report);
    }

    private void report(UndecidedLoss report) {
        if (report.receiver == self) {
            reported(report.loss);
        } else {
            failure.report(report.receiver, report.loss);
        }
    }

    /** Handles a report of lost ranks after the messages of the lost ranks, which may include a goodbye, were read. */
    void reported(Failure loss) {
        linkJudge.afterReading(() -> judgeReported(loss), FailurePolicy.EOF_GRACE_NANOS);
    }

    /** Blames each reported rank that has not left, according to this rank. */
    private void judgeReported(Failure loss) {
        Set<Integer> blamed = new TreeSet<>(loss.culprits());
        blamed.removeIf(rank -> rank == self || !isBlamed(rank));
        if (!blamed.isEmpty()) {
            failure.failUnlessFailed(new Failure(loss.code(), loss.origin(), -1, blamed, loss.text(), null));
        }
    }

    private synchronized void note(BitSet kind, int peer, boolean is) {
        kind.set(peer, is);
        publish();
    }

    /** Records a dead rank. After a failure, only neighbours of a rank can determine that the rank had not left. */
    private void noteDead(int peer) {
        boolean isNew;
        synchronized (this) {
            isNew = !dead.get(peer);
            note(dead, peer, true);
        }
        if (isNew) {
            long later = exits.neighbours().reports(peer) ? 0 : REPORT_WAITS * FailurePolicy.EOF_GRACE_NANOS;
            sendDeadLater(UNEXPLAINED_NANOS + later);
        }
    }

    private void publish() {
        Set<Integer> ranks = new TreeSet<>();
        for (int rank = 0; rank < Math.max(dead.length(), silent.length()); rank++) {
            if (dead.get(rank) || silent.get(rank)) {
                ranks.add(rank);
            }
        }
        lost = Collections.unmodifiableSet(ranks);
    }

    /** Handles a rank that is alive without a connection, because one side refused data or the rank reads no data. */
    private void giveUp(int peer, FerroException cause) {
        boolean own = cause.code() == Code.ABORTED || cause.getCause() instanceof OutOfMemoryError;
        boolean takesNothing = cause.code() == Code.PARTITION;
        Set<Integer> blamed = cause.code() == Code.MISMATCH ? cause.where().culprits() : Set.of(own ? self : peer);
        Failure loss = new Failure(cause.code(), self, -1, blamed, cause.getMessage(), cause);
        if (!takesNothing) {
            failure.fail(loss);
        } else {
            BitSet alone = new BitSet();
            alone.set(peer);
            judgeSilence(peer, alone, cause);
        }
    }

    /** Returns whether the loss of a rank is a cause, because it is certain that the rank has not left. */
    private boolean isBlamed(int peer) {
        return rules.blamesLoss(linkJudge.hasToldAbort(peer), !exits.isPresent(peer));
    }

    /** Returns whether the loss of a rank may be a cause, because no leave of the rank has reached this rank. */
    private boolean mayBeBlamed(int peer) {
        return rules.blamesLoss(linkJudge.hasToldAbort(peer), !exits.mayBePresent(peer));
    }

    /** Judges the end of a rank after its messages were read. */
    private void judge(int peer, FerroException cause) {
        if (!exits.has(peer)) {
            failure.hasEnded(peer);
        }
        blame(peer, cause, 0);
    }

    private void blame(int peer, FerroException cause, int waits) {
        BitSet over;
        BitSet known;
        synchronized (this) {
            over = (BitSet) ended.clone();
            known = (BitSet) proven.clone();
        }
        if (known.get(peer) && !exits.has(peer)) {
            noteDead(peer);
        }
        if (!isBlamed(peer)) {
            return;
        }
        BitSet process = processOf(peer);
        BitSet gone = (BitSet) process.clone();
        gone.and(over);
        BitSet machine = machineOf(peer, over);
        boolean isPart = gone.cardinality() < process.cardinality() && !isOfTheSameDeath(process);
        int waitsForOthers = isPart ? PROCESS_WAITS : waitsForMachine(peer, machine);
        int waitsForReport = isWithin(gone, known) ? 0 : PROOF_WAITS;
        waitsForReport += exits.neighbours().reports(peer) ? 0 : REPORT_WAITS;
        if (waits < Math.max(waitsForOthers, waitsForReport)) {
            linkJudge.afterReading(() -> blame(peer, cause, waits + 1), rules.eofGraceNanos());
            return;
        }
        if (isOfTheSameDeath(process)) {
            failure.failAsPart(loss(gone, text(cause, gone, process), cause));
        }
        boolean isWhole = machine.cardinality() > gone.cardinality();
        Failure loss =
                isWhole ? loss(machine, machineText(machine), cause) : loss(gone, text(cause, gone, process), cause);
        if (isWhole && isOfTheSameDeath(machine)) {
            failure.fail(loss);
        } else {
            // if a cause is known, the lost rank may have ended because of this cause; a rank that ends with unread
            // bytes loses messages that it has sent
            failure.failUnlessFailed(loss);
        }
    }

    private Failure loss(BitSet ranks, String text, FerroException cause) {
        int known = ranks.cardinality() > 1 ? ranks.cardinality() : 0;
        return new Failure(Code.PEER_LOST, self, -1, RankSetFormat.numbers(ranks), text, cause, known);
    }

    private static boolean isWithin(BitSet ranks, BitSet others) {
        BitSet rest = (BitSet) ranks.clone();
        rest.andNot(others);
        return rest.isEmpty();
    }

    /** Returns how often to wait for the ends of other ranks on a machine; 0 if all ranks of the machine have ended. */
    private int waitsForMachine(int peer, BitSet machine) {
        return machine.isEmpty() && isOnePlaceOfMany(peer) ? MACHINE_WAITS : 0;
    }

    /** Returns the ranks to blame on another machine: all its ranks if all have ended, otherwise none. */
    private BitSet machineOf(int peer, BitSet over) {
        BitSet ranks = those(machines.sharing(peer, rank -> over.get(rank) || !mayBeBlamed(rank)), this::isBlamed);
        return ranks.cardinality() > 1 ? ranks : new BitSet();
    }

    private boolean isOnePlaceOfMany(int peer) {
        return !machines.sharing(peer, rank -> true).isEmpty();
    }

    private String machineText(BitSet machine) {
        return machines.away(machine.nextSetBit(0)) + ": all its " + machines.named(machine)
                + " are gone: their control connections ended without a goodbye, as happens when their "
                + "launcher or machine ends" + FailureHints.THEIR_OUTPUT;
    }

    /** Returns the ranks of this group in a process that neither left nor sent a failure before its end. */
    private BitSet processOf(int peer) {
        BitSet joined = machines.processes().sharing(machines.joinedRanks()[peer]);
        BitSet ranks = new BitSet();
        for (int rank = 0; rank < machines.joinedRanks().length; rank++) {
            ranks.set(rank, rank == peer || joined.get(machines.joinedRanks()[rank]) && isBlamed(rank));
        }
        return ranks;
    }

    /** Returns whether the group has already failed because another rank of the same process ended. */
    private boolean isOfTheSameDeath(BitSet process) {
        Failure known = failure.cause();
        if (known == null || known.code() != Code.PEER_LOST) {
            return false;
        }
        for (int rank : known.culprits()) {
            if (process.get(rank)) {
                return true;
            }
        }
        return false;
    }

    private String text(FerroException cause, BitSet gone, BitSet process) {
        if (gone.cardinality() == 1) {
            return cause.getMessage();
        }
        String who = machines.ofOneProcess(gone) + " are gone: ";
        return gone.equals(process)
                ? who + "their process has ended without closing its groups" + FailureHints.ITS_OUTPUT
                : who + "their control connections ended without a goodbye" + FailureHints.THEIR_OUTPUT;
    }
}
