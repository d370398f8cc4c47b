package ferro.backend.simulated;

import ferro.FerroException.Code;
import ferro.Work;
import ferro.control.failure.Overlay;
import ferro.group.ProcessGroup;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.stream.IntStream;

/**
 * What the ranks do and what goes wrong, all drawn from one seed: collectives of every kind, messages, subgroups, mistakes that
 * users make, and faults.
 */
final class Program {
    static final List<String> ALGORITHMS = List.of(
            "",
            "allReduce=ring,broadcast=binomial,reduce=binomial,allGather=ring,reduceScatter=ring,gather=binomial,"
                    + "scatter=binomial",
            "allReduce=halvingDoubling,broadcast=linear,reduce=linear,allGather=recursiveDoubling,"
                    + "reduceScatter=linear,gather=linear,scatter=linear",
            "allReduce=recursiveDoubling,allGather=linear");
    private static final int MAX_FACTORS = 15;

    /** A small number of ranks, drawn from the seed. */
    static final int ANY_SIZE = 0;

    private static final long[] HORIZONS = {30, 120, 500};
    private static final Duration SILENCE_LIMIT = Duration.ofMillis(800);

    final int worldSize;
    final Duration timeout;
    /** Whether heartbeats find whoever is silent, long before a deadline does. */
    final boolean heartbeats;

    final Map<String, String> settings = new HashMap<>();
    final int maxMesh;
    /** The group of all ranks, then its subgroups. */
    final List<Part> parts = new ArrayList<>();
    /** What the simulation does; ranks are those of the world. */
    final List<Cause> faults = new ArrayList<>();

    private final SplittableRandom random;

    /**
     * What one group does.
     *
     * @param members  ranks of the world
     * @param ops      by rank of this group
     * @param windows  how many calls of each rank may be under way
     * @param calls    of all ranks, in order
     * @param mistakes what its ranks do wrong; ranks are those of this group
     */
    record Part(int[] members, List<List<Op>> ops, List<Integer> windows, List<Call> calls, List<Cause> mistakes) {
        /** Returns a world rank's rank in this group, or -1. */
        int indexOf(int worldRank) {
            // each step of a run asks: no stream
            for (int rank = 0; rank < members.length; rank++) {
                if (members[rank] == worldRank) {
                    return rank;
                }
            }
            return -1;
        }
    }

    Program(long seed) {
        this(seed, ANY_SIZE);
    }

    /** Draws a program for so many ranks, in groups of which each rank tells only its neighbours. */
    Program(long seed, int size) {
        random = new SplittableRandom(Long.rotateLeft(seed, 17) ^ 0x5DEECE66DL);
        int drawn = random.nextInt(8) == 0 ? 2 : 3 + random.nextInt(6);
        worldSize = size == ANY_SIZE ? drawn : size;
        maxMesh = size == ANY_SIZE ? Overlay.MAX_MESH : 4;
        heartbeats = random.nextInt(4) == 0;
        timeout = Duration.ofMillis(heartbeats ? 8000 : 1000 + random.nextInt(1000));
        settings.put("ferro.timeout", timeout.toMillis() + "ms");
        settings.put("ferro.algorithm", ALGORITHMS.get(random.nextInt(ALGORITHMS.size())));
        settings.put("ferro.segment", random.nextInt(4) == 0 ? "64" : "512KiB");
        if (heartbeats) {
            settings.put("ferro.heartbeat.interval", "100ms");
            settings.put("ferro.heartbeat.suspect", "300ms");
            settings.put("ferro.heartbeat.limit", SILENCE_LIMIT.toMillis() + "ms");
        }
        drawPart(IntStream.range(0, worldSize).toArray(), 1 + random.nextInt(5));
        for (int subgroups = random.nextInt(3) == 0 ? 1 + random.nextInt(3) : 0; subgroups > 0; subgroups--) {
            int[] members = drawMembers();
            if (members.length > 1) {
                drawPart(members, 1 + random.nextInt(2));
            }
        }
        if (random.nextInt(3) == 0) {
            drawMistake(parts.get(random.nextInt(parts.size())));
        }
        int count = List.of(0, 1, 1, 1, 1, 1, 2, 2).get(random.nextInt(8));
        for (int i = 0; i < count; i++) {
            faults.add(drawFault());
        }
    }

    /** Draws some ranks, in an order of their own. */
    private int[] drawMembers() {
        List<Integer> members = new ArrayList<>();
        for (int rank = 0; rank < worldSize; rank++) {
            if (random.nextInt(3) > 0) {
                members.add(random.nextInt(1 + members.size()), rank);
            }
        }
        return members.stream().mapToInt(Integer::intValue).toArray();
    }

    private void drawPart(int[] members, int count) {
        Part part = new Part(members, new ArrayList<>(), new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        parts.add(part);
        for (int rank = 0; rank < members.length; rank++) {
            part.ops.add(new ArrayList<>());
            part.windows.add(List.of(1, 2, Integer.MAX_VALUE).get(random.nextInt(3)));
        }
        for (int i = 0; i < count; i++) {
            Call.Shape before = i == 0 ? null : part.calls.get(i - 1).shape();
            Call call = new Call(drawShape(members.length, before), members.length, random);
            part.calls.add(call);
            part.ops.forEach(rank -> rank.add(call));
            if (random.nextInt(3) == 0) {
                Message message = new Message(random, members.length, i);
                part.ops.get(message.from()).add(message.half(true));
                part.ops.get(message.to()).add(message.half(false));
            }
        }
    }

    /** Draws one that the engine can tell from another. */
    private Call.Shape drawShape(int size, Call.Shape other) {
        while (true) {
            Call.Shape shape = new Call.Shape(
                    pick(Call.KINDS),
                    pick(Call.TYPES),
                    1 + random.nextInt(random.nextInt(8) == 0 ? 300 : 12),
                    random.nextInt(size),
                    // the product of many ranks does not fit a float
                    pick(worldSize > MAX_FACTORS ? Call.OPS.subList(0, 1) : Call.OPS));
            if (other == null || !shape.isLike(other)) {
                return shape;
            }
        }
    }

    private <T> T pick(List<T> choices) {
        return choices.get(random.nextInt(choices.size()));
    }

    private void drawMistake(Part part) {
        int rank = random.nextInt(part.members.length);
        int at = random.nextInt(part.calls.size());
        Call call = part.calls.get(at);
        List<Op> ops = part.ops.get(rank);
        switch (random.nextInt(5)) {
            case 0, 1 -> {
                ops.add(ops.indexOf(call), Program::abort);
                mistake(part, "rank " + rank + " aborts before call " + at, EnumSet.of(Code.ABORTED), rank);
            }
            case 2 -> {
                ops.remove(call);
                Code code = at == part.calls.size() - 1 ? Code.TIMED_OUT : Code.MISMATCH;
                mistake(part, "rank " + rank + " skips call " + at, EnumSet.of(code), rank);
            }
            default -> {
                Call wrong = new Call(drawWrong(part, call.shape()), part.members.length, random);
                Collections.replaceAll(ops, call, wrong.madeOnlyBy(rank));
                mistake(part, "rank " + rank + " calls " + wrong + " in place " + at, EnumSet.of(Code.MISMATCH), rank);
            }
        }
    }

    /** A rank gives up, as it does when its own code throws. */
    private static Work abort(ProcessGroup group) {
        group.abort(new IllegalStateException("the program of rank " + group.rank() + " failed"));
        return null;
    }

    /** The second rank of a mismatch is whoever noticed. */
    private static void mistake(Part part, String text, Set<Code> codes, int rank) {
        Set<Integer> suspects = new TreeSet<>(Set.of(rank));
        if (codes.contains(Code.MISMATCH)) {
            IntStream.range(0, part.members.length).forEach(suspects::add);
        }
        part.mistakes.add(new Cause(text, codes, suspects, codes.contains(Code.MISMATCH) ? rank : -1, null));
    }

    private Call.Shape drawWrong(Part part, Call.Shape right) {
        Call.Shape any = drawShape(part.members.length, right);
        Call.Shape wrong = switch (random.nextInt(5)) {
            case 0 -> new Call.Shape(right.kind(), right.type(), any.count(), right.root(), right.op());
            case 1 -> new Call.Shape(right.kind(), any.type(), right.count(), right.root(), right.op());
            case 2 -> new Call.Shape(right.kind(), right.type(), right.count(), any.root(), right.op());
            case 3 -> new Call.Shape(right.kind(), right.type(), right.count(), right.root(), any.op());
            default -> any;
        };
        return wrong.isLike(right) ? any : wrong;
    }

    private Cause drawFault() {
        long step = random.nextLong(HORIZONS[random.nextInt(HORIZONS.length)]);
        int one = random.nextInt(worldSize);
        int other = (one + 1 + random.nextInt(worldSize - 1)) % worldSize;
        Duration patience = heartbeats ? SILENCE_LIMIT : timeout;
        Fault fault = switch (random.nextInt(8)) {
            case 0, 1, 2 -> new Fault.Crash(step, one);
            case 3 -> new Fault.Pause(step, one, patience.dividedBy(4));
            case 4 -> new Fault.Pause(step, one, patience.multipliedBy(heartbeats ? 4 : 2));
            case 5 -> new Fault.OneWayPartition(step, one, other);
            case 6 -> new Fault.Drop(step, one, other);
            default -> new Fault.Duplicate(step, one, other);
        };
        return causeOf(fault, patience);
    }

    private Cause causeOf(Fault fault, Duration patience) {
        Set<Code> silence = heartbeats ? EnumSet.of(Code.PARTITION) : EnumSet.of(Code.TIMED_OUT, Code.PARTITION);
        Set<Code> loss = EnumSet.of(Code.PEER_LOST);
        if (fault instanceof Fault.Crash crash) {
            return new Cause(fault.toString(), loss, Set.of(crash.rank()), fault);
        } else if (fault instanceof Fault.Pause pause && pause.length().compareTo(patience) > 0) {
            return new Cause(fault.toString(), silence, Set.of(pause.rank()), fault);
        } else if (fault instanceof Fault.OneWayPartition cut) {
            return new Cause(fault.toString(), silence, Set.of(cut.from(), cut.to()), fault);
        } else if (fault instanceof Fault.Drop drop) {
            Set<Code> link = EnumSet.of(Code.PARTITION, Code.PEER_LOST);
            return new Cause(fault.toString(), link, Set.of(drop.one(), drop.other()), fault);
        }
        return new Cause(fault.toString(), Set.of(), Set.of(), fault);
    }

    List<Fault> faults() {
        return faults.stream().map(Cause::fault).toList();
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(worldSize + " ranks, " + settings + ", faults ");
        text.append(faults.stream().map(Cause::text).toList());
        for (Part part : parts) {
            text.append(", ranks ")
                    .append(Arrays.toString(part.members))
                    .append(" call ")
                    .append(part.calls);
            part.mistakes.forEach(mistake -> text.append(", ").append(mistake.text()));
        }
        return text.toString();
    }
}
