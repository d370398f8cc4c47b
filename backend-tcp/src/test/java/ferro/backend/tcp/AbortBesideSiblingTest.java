package ferro.backend.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.Work;
import ferro.backend.tcp.mesh.Ranks;
import ferro.backend.tcp.net.Memory;
import ferro.group.ProcessGroup;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a failed call leaves behind: nothing, in nobody's memory and on no link (rule 7 of the engine). */
@Timeout(120)
class AbortBesideSiblingTest {
    private static final int RANKS = 3;
    /** 64 MiB of floats. */
    private static final int LARGE = 16 << 20;

    private static final int SMALL = 100_003;
    private static final int ROUNDS = 50;
    private static final int REJOINS = 20;

    @Test
    @DisplayName(
            "row 28: an abort in the middle of 64 MiB ends that group only, and nothing touches the array any more")
    void anAbortInTheMiddleOf64MibFailsOnlyItsGroupAndLeavesItsArraysAlone() {
        try (TcpJob job = TcpJob.of(RANKS)) {
            List<ProcessGroup> whole = job.joinAll("whole");
            List<ProcessGroup> victims = TcpJob.onAll(whole, group -> group.newGroup(0, 1, 2));
            List<ProcessGroup> siblings = TcpJob.onAll(whole, group -> group.newGroup(2, 1, 0));
            AtomicBoolean over = new AtomicBoolean();
            List<CompletableFuture<Integer>> beside = TcpJob.startOnAll(siblings, group -> sums(group, over));
            List<float[]> arrays = new ArrayList<>();
            for (int rank = 0; rank < RANKS; rank++) {
                arrays.add(filled(LARGE, rank));
            }

            List<CompletableFuture<FerroException>> failing =
                    TcpJob.startOnAll(victims, group -> aborted(group, arrays.get(group.rank())));
            abortInTheMiddle(victims.get(1), arrays.get(0), 0);
            List<FerroException> failures = failing.stream().map(Ranks::result).toList();

            failures.forEach(failure -> assertEquals(Code.ABORTED, failure.code(), failure.getMessage()));
            failures.forEach(failure -> assertEquals(Set.of(1), failure.where().culprits(), failure.getMessage()));
            TcpJob.onAll(whole, group -> sum(group, 7, LARGE / 8));
            TcpJob.onAll(whole, group -> sum(group.newGroup(0, 1, 2), 9, LARGE / 8));
            over.set(true);
            beside.forEach(one -> assertTrue(Ranks.result(one) > 3, "the sibling hardly moved"));
            for (int rank = 0; rank < RANKS; rank++) {
                assertUntouched(arrays.get(rank), rank);
            }
        }
    }

    @Test
    @DisplayName("row 28: half-sent frames of fifty aborted groups never surface in a later one of the same ranks")
    void halfSentFramesOfAbortedGroupsNeverReachALaterGroup() {
        try (TcpJob job = TcpJob.of(RANKS)) {
            List<ProcessGroup> whole = job.joinAll("whole");
            for (int round = 0; round < ROUNDS; round++) {
                int start = round;
                List<ProcessGroup> groups = TcpJob.onAll(whole, group -> group.newGroup(0, 1, 2));
                TcpJob.onAll(groups, group -> sum(group, start, SMALL));
                abortOnce(groups, round);
                groups.forEach(ProcessGroup::close);
            }
            TcpJob.onAll(whole, group -> sum(group, 7, SMALL));
        }
    }

    @Test
    @DisplayName("row 28: a group that is joined twenty times by one name meets no connection of its earlier lives")
    void aGroupJoinedAgainUnderItsNameGetsNoOldConnection() {
        try (TcpJob job = TcpJob.of(2)) {
            for (int round = 0; round < REJOINS; round++) {
                int start = round;
                List<ProcessGroup> groups = job.joinAll("again");
                TcpJob.onAll(groups, group -> sum(group, start, SMALL));
                abortOnce(groups, round);
                groups.forEach(ProcessGroup::close);
            }
        }
    }

    /** Aborts from one rank while data flows; from another one in every round. */
    private static void abortOnce(List<ProcessGroup> groups, int round) {
        List<float[]> arrays =
                groups.stream().map(group -> filled(1 << 18, group.rank())).toList();
        List<CompletableFuture<FerroException>> failing =
                TcpJob.startOnAll(groups, group -> aborted(group, arrays.get(group.rank())));
        abortInTheMiddle(groups.get(round % groups.size()), arrays.get(0), 0);
        failing.forEach(Ranks::result);
        for (ProcessGroup group : groups) {
            assertUntouched(arrays.get(group.rank()), group.rank());
        }
    }

    /** Sums in place over and over until the abort comes, and then uses the array for something else at once. */
    private static FerroException aborted(ProcessGroup group, float[] data) {
        try {
            while (true) {
                if (group.rank() == 0) {
                    group.allReduce(data, ReduceOp.MAX);
                } else {
                    drivenByItself(group.allReduceAsync(HostTensor.of(data), ReduceOp.MAX));
                }
            }
        } catch (FerroException failure) {
            Arrays.fill(data, own(group.rank()));
            return failure;
        }
    }

    /** Has the progress thread drive: it may be in the middle of a read when the failure comes. */
    private static void drivenByItself(Work work) {
        while (!work.isDone()) {
            Thread.yield();
        }
        work.await();
    }

    /** Waits until a result has come to a rank's array, some of which is still its own. */
    private static void abortInTheMiddle(ProcessGroup by, float[] data, int rank) {
        boolean begun = false;
        while (!begun) {
            Thread.yield();
            for (int i = data.length / 64; i < data.length && !begun; i += data.length / 64) {
                begun = data[i] != value(i, rank);
            }
        }
        by.abort(new IllegalStateException("in the middle"));
    }

    private static int sums(ProcessGroup group, AtomicBoolean over) {
        int[] done = new int[1];
        boolean last = false;
        while (!last) {
            done[0]++;
            sum(group, done[0], SMALL);
            // all ranks must make the same number of calls: rank 0 says when it is over
            int[] end = {over.get() ? 3 : 2};
            group.broadcast(end, 0);
            last = end[0] == 3;
        }
        return done[0];
    }

    /** Sums and compares every element. */
    public static Void sum(ProcessGroup group, int start, int count) {
        float[] data = filled(count, group.rank() + start);
        group.allReduce(data, ReduceOp.SUM);
        for (int i = 0; i < count; i++) {
            float expected = 0;
            for (int rank = 0; rank < group.worldSize(); rank++) {
                expected += value(i, rank + start);
            }
            if (data[i] != expected) {
                throw new AssertionError("element " + i + " is " + data[i] + ", need " + expected);
            }
        }
        return null;
    }

    private static void assertUntouched(float[] data, int rank) {
        for (int i = 0; i < data.length; i++) {
            if (data[i] != own(rank)) {
                throw new AssertionError("element " + i + " of rank " + rank + " is " + data[i]);
            }
        }
    }

    private static float own(int rank) {
        return -1000 - rank;
    }

    private static float[] filled(int count, int start) {
        float[] made = new float[count];
        for (int i = 0; i < count; i++) {
            made[i] = value(i, start);
        }
        return made;
    }

    /** Whole and below 2^17, so that sums of three are exact in any order; no 0 and no 1. */
    private static float value(int i, int start) {
        return Memory.value(i, start * 31);
    }
}
