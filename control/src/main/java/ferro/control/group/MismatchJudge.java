package ferro.control.group;

import ferro.FerroException.Code;
import ferro.control.failure.CallComparison;
import ferro.control.failure.Failure;
import ferro.control.failure.FailurePolicy;
import ferro.control.failure.StatusAnswer;
import ferro.spi.CallHeader;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;

/**
 * The calls of the ranks for one sequence number at which the calls differ. This rank asks all ranks for their calls
 * before it blames a rank, so the failure lists all calls that are known. The failure blames the ranks whose calls
 * differ from the calls of most ranks. The failure is published as soon as all ranks have answered and reported their
 * calls. After {@link #SETTLE_NANOS} the failure is published without the unknown calls. Thread-safe.
 */
final class MismatchJudge {
    /**
     * The time that ranks have to report their calls. A waiting rank sends its first question 50 ms after its call
     * began. The sum of 50 ms and {@code SETTLE_NANOS} must be below 100 ms. Within 100 ms, all ranks that have made
     * the call must receive the failure.
     */
    static final long SETTLE_NANOS = 40_000_000L;
    /** The time after which this rank asks a rank again that has not reached the call. */
    private static final long ASK_AGAIN_NANOS = 10_000_000L;
    /** The longest list of calls in the text of a failure, in characters. Further calls are only counted. */
    private static final int LIST_MOST = 2000;

    private final StatusInquiry inquiry;
    private final StatusResponder responder;
    private final AgreedFailure failure;
    private final Timers timers;
    private final int self;
    private final CallHistory history;
    private final LinkLossJudge linkJudge;
    private final FailurePolicy rules;
    private final int worldSize;
    private final Map<Integer, ReportedCall> calls = new TreeMap<>();
    /** The earliest sequence number at which the calls of ranks differ, according to this rank; 0 if none is known. */
    private long contested;
    /** The number of the first question about sequence number {@code contested}; 0 until all ranks were asked. */
    private long asked;

    private boolean settled;

    /** A call of a rank, and the line of the program that made the call; the line is empty if unknown. */
    private record ReportedCall(long fingerprint, String text, String location) {
        private static ReportedCall of(StatusAnswer said) {
            return new ReportedCall(said.fingerprint(), said.call(), said.callLocation());
        }

        /** Returns the later report of the same call, or this report if the later report has no line. */
        private ReportedCall after(ReportedCall next) {
            return next.fingerprint == fingerprint && next.location.isEmpty() ? this : next;
        }

        private String print() {
            return text + (location.isEmpty() ? "" : " (" + location + ")");
        }
    }

    MismatchJudge(
            FailureContext tools, CallHistory history, LinkLossJudge linkJudge, FailurePolicy rules, int worldSize) {
        this.inquiry = tools.inquiry();
        this.responder = tools.responder();
        this.failure = tools.failure();
        this.timers = tools.timers();
        this.self = failure.self();
        this.history = history;
        this.linkJudge = linkJudge;
        this.rules = rules;
        this.worldSize = worldSize;
    }

    /**
     * Records a call that a rank reports, after a question or without a question. Ignores the call if this rank has not
     * reached the call's sequence number yet, or has passed it too long ago. Returns whether this rank has made another
     * call with the same sequence number.
     */
    boolean heard(int peer, long sequence, long fingerprint, String text) {
        return heard(peer, sequence, new ReportedCall(fingerprint, text, ""));
    }

    /** Records the call of a rank that has answered, as {@link #heard(int, long, long, String)} does. */
    void answered(int peer, StatusAnswer said) {
        heard(peer, said.asked(), ReportedCall.of(said));
    }

    private boolean heard(int peer, long sequence, ReportedCall call) {
        long fingerprint = call.fingerprint;
        CallHeader mine = fingerprint == 0 ? null : history.find(sequence);
        if (mine == null) {
            return false;
        }
        boolean differs = !rules.isSameCall(mine.fingerprint(), fingerprint);
        boolean begins;
        synchronized (this) {
            begins = !settled && (contested == 0 || sequence < contested) && differs;
            if (begins) {
                contested = sequence;
                asked = 0;
                calls.clear();
                calls.put(self, new ReportedCall(mine.fingerprint(), mine.text(), ""));
            }
            if (settled || sequence != contested) {
                return differs;
            }
            calls.merge(peer, call, ReportedCall::after);
        }
        if (begins) {
            begin(mine);
        }
        if (areAllKnown(sequence)) {
            settle(sequence);
        }
        return differs;
    }

    private void begin(CallHeader mine) {
        String location = responder.statusWithLine(0, mine.sequence()).callLocation();
        ReportedCall own = new ReportedCall(mine.fingerprint(), mine.text(), location);
        long ask = inquiry.askForLines(mine);
        synchronized (this) {
            if (contested == mine.sequence()) {
                calls.put(self, own);
                asked = ask;
            }
        }
        timers.later(() -> askAgain(mine), ASK_AGAIN_NANOS);
        linkJudge.afterReading(() -> settle(mine.sequence()), SETTLE_NANOS);
    }

    /**
     * Returns whether all calls are known, and all ranks have answered since this rank found the difference. The new
     * answers matter if the process of this rank was paused. After a pause, this rank may read the calls of all other
     * ranks before it reads the cause on which the other ranks have agreed. Each other rank sends the agreed cause
     * before its answer.
     */
    private boolean areAllKnown(long sequence) {
        long ask;
        synchronized (this) {
            if (contested != sequence || asked == 0 || calls.size() < worldSize) {
                return false;
            }
            ask = asked;
        }
        return !inquiry.isAnySilent(ask, null);
    }

    /** Asks each rank again that has not answered, or that had not reached the call. */
    private void askAgain(CallHeader mine) {
        BitSet unknown = new BitSet();
        synchronized (this) {
            if (settled || contested != mine.sequence()) {
                return;
            }
            unknown.set(0, worldSize);
            calls.keySet().forEach(unknown::clear);
        }
        inquiry.askForLines(mine, unknown);
        timers.later(() -> askAgain(mine), ASK_AGAIN_NANOS);
    }

    /** Decides from the calls that are known so far which ranks to blame. Does not wait for more calls. */
    void settleNow() {
        long sequence;
        synchronized (this) {
            sequence = contested;
        }
        if (sequence > 0) {
            settle(sequence);
        }
    }

    private void settle(long sequence) {
        Failure mismatch;
        synchronized (this) {
            if (settled || contested != sequence) {
                return;
            }
            settled = true;
            Map<Integer, Long> fingerprints = new TreeMap<>();
            calls.forEach((rank, call) -> fingerprints.put(rank, call.fingerprint));
            List<String> texts = calls.values().stream().map(ReportedCall::text).toList();
            mismatch = new Failure(
                    Code.MISMATCH,
                    self,
                    sequence,
                    CallComparison.odd(fingerprints),
                    text(sequence, texts, list()),
                    null,
                    calls.size());
        }
        failure.fail(mismatch);
    }

    private static String text(long sequence, List<String> calls, String list) {
        return CallComparison.problem(calls) + " at seq " + sequence + ": " + list + ": "
                + CallComparison.remedy(calls);
    }

    private String list() {
        StringBuilder text = new StringBuilder();
        Set<String> printed = new HashSet<>();
        int listed = 0;
        for (Map.Entry<Integer, ReportedCall> call : calls.entrySet()) {
            if (text.length() > LIST_MOST) {
                return text + " and " + (calls.size() - listed) + " more";
            }
            String print = call.getValue().print();
            text.append(text.isEmpty() ? "" : ", ")
                    .append(named(call.getKey()))
                    .append(' ')
                    // many ranks make the same call at the same line
                    .append(printed.add(print) ? print : call.getValue().text);
            listed++;
        }
        return text.toString();
    }

    /** Handles data of a peer that does not fit the call of this rank. Asks all ranks for their calls. */
    void suspected(int peer, CallHeader expected, CallHeader found) {
        // the part of the call that is the same on all ranks; a header may contain values on which only two ranks agree
        CallHeader mine = history.find(expected.sequence());
        long first = inquiry.askForLines(mine == null ? expected : mine);
        // a rank that only sent data in an earlier call may have reached the expected call; if so, the earlier call is
        // the difference
        CallHeader earlier = history.find(found.sequence());
        long last = earlier != null && earlier.sequence() != expected.sequence() ? inquiry.askForLines(earlier) : first;
        boolean ofTwo = mine != null && mine.fingerprint() != expected.fingerprint();
        // a rank that has sent data is alive, but its answer may be late
        BooleanSupplier said = () -> isContested() || inquiry.hasAnswered(peer, last);
        linkJudge.afterWord(said, () -> blameBoth(peer, expected, found, ofTwo), SETTLE_NANOS);
    }

    private String named(int rank) {
        return inquiry.machines().named(rank);
    }

    private synchronized boolean isContested() {
        return contested != 0;
    }

    /** Blames this rank and the peer, one of which must be to blame, if no rank has reported a different call. */
    private void blameBoth(int peer, CallHeader expected, CallHeader found, boolean ofTwo) {
        if (isContested()) {
            return;
        }
        String other = "a different call, which it has not reported";
        if (found.fingerprint() == expected.fingerprint()) {
            other = "the same call, but as its seq " + found.sequence();
        } else if (ofTwo && found.sequence() == expected.sequence()) {
            other = "the same call, but with another number of elements for " + named(self);
        }
        String list = named(self) + " " + expected.text() + ", " + named(peer) + " " + other;
        Set<Integer> both = new TreeSet<>(List.of(self, peer));
        failure.failUnlessFailed(new Failure(
                Code.MISMATCH, self, expected.sequence(), both, text(expected.sequence(), List.of(), list), null));
    }
}
