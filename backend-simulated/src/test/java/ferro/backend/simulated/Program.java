package ferro.backend.simulated;

import ferro.FerroException.Code;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;

/**
 * What the ranks do and what goes wrong, all drawn from one seed: collectives of every kind, messages, mistakes that users
 * make, and faults.
 */
final class Program {
    private static final List<String> ALGORITHMS = List.of(
            "",
            "allReduce=ring,broadcast=binomial,reduce=binomial,allGather=ring,reduceScatter=ring,gather=binomial,"
                    + "scatter=binomial",
            "allReduce=halvingDoubling,broadcast=direct,reduce=direct,allGather=recursiveDoubling,"
                    + "reduceScatter=direct,gather=direct,scatter=direct",
            "allReduce=recursiveDoubling,allGather=direct");
    private static final long[] HORIZONS = {60, 300, 1200};
    /** Longest pause after which nothing may have failed, as part of the deadline. */
    private static final int SHORT_PAUSE_DIVISOR = 4;

    final int worldSize;
    final Duration timeout;
    final Map<String, String> settings;
    final List<List<Op>> ops = new ArrayList<>();
    /** How many calls of each rank may be under way. */
    final List<Integer> windows = new ArrayList<>();

    final List<Cause> causes = new ArrayList<>();
    private final SplittableRandom random;
    private final List<Call> calls = new ArrayList<>();

    Program(long seed) {
        random = new SplittableRandom(Long.rotateLeft(seed, 17) ^ 0x5DEECE66DL);
        worldSize = random.nextInt(8) == 0 ? 2 : 3 + random.nextInt(6);
        timeout = Duration.ofMillis(1000 + random.nextInt(1000));
        settings = Map.of(
                "ferro.timeout",
                timeout.toMillis() + "ms",
                "ferro.algorithm",
                ALGORITHMS.get(random.nextInt(ALGORITHMS.size())),
                "ferro.segment",
                random.nextInt(4) == 0 ? "64" : "512KiB");
        drawCalls();
        if (random.nextInt(3) == 0) {
            drawMistake();
        }
        int faults = List.of(0, 1, 1, 1, 1, 1, 2, 2).get(random.nextInt(8));
        for (int i = 0; i < faults; i++) {
            drawFault();
        }
    }

    private void drawCalls() {
        for (int rank = 0; rank < worldSize; rank++) {
            ops.add(new ArrayList<>());
            windows.add(List.of(1, 2, Integer.MAX_VALUE).get(random.nextInt(3)));
        }
        int count = 1 + random.nextInt(5);
        for (int i = 0; i < count; i++) {
            Call call = new Call(drawShape(i == 0 ? null : calls.get(i - 1).shape()), worldSize, random);
            calls.add(call);
            ops.forEach(rank -> rank.add(call));
            if (random.nextInt(3) == 0) {
                addMessage();
            }
        }
    }

    private void addMessage() {
        Message message = new Message(random, worldSize);
        ops.get(message.from()).add(message.half(true));
        ops.get(message.to()).add(message.half(false));
    }

    /** Draws one that the engine can tell from another. */
    private Call.Shape drawShape(Call.Shape other) {
        while (true) {
            Call.Shape shape = new Call.Shape(
                    pick(Call.KINDS),
                    pick(Call.TYPES),
                    1 + random.nextInt(random.nextInt(8) == 0 ? 300 : 12),
                    random.nextInt(worldSize),
                    pick(Call.OPS));
            if (other == null || !shape.isLike(other)) {
                return shape;
            }
        }
    }

    private <T> T pick(List<T> choices) {
        return choices.get(random.nextInt(choices.size()));
    }

    private void drawMistake() {
        int rank = random.nextInt(worldSize);
        int at = random.nextInt(calls.size());
        switch (random.nextInt(5)) {
            case 0, 1 -> {
                ops.get(rank).add(ops.get(rank).indexOf(calls.get(at)), new Abort());
                cause("rank " + rank + " aborts before call " + at, EnumSet.of(Code.ABORTED), Set.of(rank), null);
            }
            case 2 -> {
                ops.get(rank).remove(calls.get(at));
                Set<Code> codes = at == calls.size() - 1 ? EnumSet.of(Code.TIMED_OUT) : EnumSet.of(Code.MISMATCH);
                mismatch("rank " + rank + " skips call " + at, codes, rank);
            }
            default -> {
                Call wrong = new Call(drawWrong(calls.get(at).shape()), worldSize, random);
                Collections.replaceAll(ops.get(rank), calls.get(at), new Mistaken(wrong, rank));
                mismatch(
                        "rank " + rank + " calls " + wrong + " instead of " + calls.get(at),
                        EnumSet.of(Code.MISMATCH),
                        rank);
            }
        }
    }

    /** The second rank of a mismatch is whoever noticed. */
    private void mismatch(String text, Set<Code> codes, int rank) {
        Set<Integer> suspects = new TreeSet<>();
        for (int other = 0; other < worldSize; other++) {
            suspects.add(other);
        }
        cause(text, codes, codes.contains(Code.MISMATCH) ? suspects : Set.of(rank), null);
    }

    private Call.Shape drawWrong(Call.Shape right) {
        Call.Shape any = drawShape(right);
        Call.Shape wrong = switch (random.nextInt(5)) {
            case 0 -> new Call.Shape(right.kind(), right.type(), any.count(), right.root(), right.op());
            case 1 -> new Call.Shape(right.kind(), any.type(), right.count(), right.root(), right.op());
            case 2 -> new Call.Shape(right.kind(), right.type(), right.count(), any.root(), right.op());
            case 3 -> new Call.Shape(right.kind(), right.type(), right.count(), right.root(), any.op());
            default -> any;
        };
        return wrong.isLike(right) ? any : wrong;
    }

    private void drawFault() {
        long step = random.nextLong(HORIZONS[random.nextInt(HORIZONS.length)]);
        int one = random.nextInt(worldSize);
        int other = (one + 1 + random.nextInt(worldSize - 1)) % worldSize;
        Fault fault = switch (random.nextInt(8)) {
            case 0, 1, 2 -> new Fault.Crash(step, one);
            case 3 -> new Fault.Pause(step, one, timeout.dividedBy(SHORT_PAUSE_DIVISOR));
            case 4 -> new Fault.Pause(step, one, timeout.multipliedBy(2));
            case 5 -> new Fault.Cut(step, one, other);
            case 6 -> new Fault.Drop(step, one, other);
            default -> new Fault.Duplicate(step, one, other);
        };
        causes.add(causeOf(fault));
    }

    private Cause causeOf(Fault fault) {
        Set<Code> silence = EnumSet.of(Code.TIMED_OUT, Code.PARTITION);
        Set<Code> loss = EnumSet.of(Code.PEER_LOST);
        if (fault instanceof Fault.Crash crash) {
            return new Cause(fault.toString(), loss, Set.of(crash.rank()), fault);
        } else if (fault instanceof Fault.Pause pause && pause.length().compareTo(timeout) > 0) {
            return new Cause(fault.toString(), silence, Set.of(pause.rank()), fault);
        } else if (fault instanceof Fault.Cut cut) {
            return new Cause(fault.toString(), silence, Set.of(cut.from(), cut.to()), fault);
        } else if (fault instanceof Fault.Drop drop) {
            Set<Code> link = EnumSet.of(Code.PARTITION, Code.PEER_LOST);
            return new Cause(fault.toString(), link, Set.of(drop.one(), drop.other()), fault);
        }
        return new Cause(fault.toString(), Set.of(), Set.of(), fault);
    }

    private void cause(String text, Set<Code> codes, Set<Integer> suspects, Fault fault) {
        causes.add(new Cause(text, codes, suspects, fault));
    }

    List<Fault> faults() {
        List<Fault> faults = new ArrayList<>();
        for (Cause cause : causes) {
            if (cause.fault() != null) {
                faults.add(cause.fault());
            }
        }
        return faults;
    }

    @Override
    public String toString() {
        return worldSize + " ranks, " + settings + ", calls " + calls + ", causes "
                + causes.stream().map(Cause::text).toList();
    }
}
