package ferro.group;

import ferro.CallOptions;
import ferro.FerroException;
import ferro.HostTensor;
import ferro.control.membership.Hashing;
import ferro.spi.Settings;
import java.util.Comparator;
import java.util.Optional;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/** The methods of {@link ProcessGroup} that make groups of some of the ranks. */
abstract class SubgroupForms extends CoalescedForms {
    private final GroupCore end;

    SubgroupForms(GroupCore end, CallOptions options) {
        super(end, options);
        this.end = end;
    }

    /**
     * Makes a group of some ranks of this group. Exactly these ranks must call this method, in the same order relative to other
     * {@code newGroup} calls. The call returns when all ranks of the new group have made it. The new group fails and closes
     * independently of this group. If a rank does not make the call in time, only this call fails.
     *
     * @param ranks ranks of this group, including this one, without duplicates
     * @return new group, whose ranks are the positions in {@code ranks}
     * @throws IllegalArgumentException      if {@code ranks} has a rank twice, has no rank of this group
     *     ({@link ferro.InvalidRankException}), or lacks this rank
     * @throws IllegalStateException         if the group is closed, or inside {@link #coalesced}
     * @throws UnsupportedOperationException if the back end cannot make groups
     * @throws FerroException                TIMED_OUT or PEER_LOST if a rank does not make the call, MISMATCH if a rank gives
     *     another list; another code if the group has failed
     */
    public abstract ProcessGroup newGroup(int... ranks);

    /**
     * Splits the group by colors: all ranks gather all colors and keys, then the ranks of each color call {@link #newGroup}.
     *
     * {@snippet file="ferro/examples/snippets/ProcessGroupSnippetsTest.java" region="split" :
     *
     * int pair = group.rank() / 2; // not negative, so every rank gets a group
     * try (ProcessGroup both = group.split(pair, group.rank()).orElseThrow()) {
     *     both.allReduce(gradient, ReduceOp.SUM);
     * }
     * }
     *
     * @param color ranks of one color form one group; negative for no group
     * @param key   order in the new group; ranks with equal keys are ordered by rank
     * @return new group; empty if {@code color} is negative
     * @throws IllegalStateException         if the group is closed, or inside {@link #coalesced}
     * @throws UnsupportedOperationException if the back end cannot make groups
     * @throws FerroException                if the group fails or has failed, or a rank does not join the new group
     */
    public final Optional<ProcessGroup> split(int color, int key) {
        end.coalescing().refuse("split");
        int[] all = new int[2 * end.backend().worldSize()];
        allGather(HostTensor.of(new int[] {color, key}), HostTensor.of(all));
        return color < 0 ? Optional.empty() : Optional.of(newGroup(members(color, all)));
    }

    /** Returns the ranks of a color, ordered by key, ties by rank; {@code all} has a color and a key for each rank. */
    private static int[] members(int color, int... all) {
        return IntStream.range(0, all.length / 2)
                .filter(rank -> all[2 * rank] == color)
                .boxed()
                .sorted(Comparator.comparingInt((Integer rank) -> all[2 * rank + 1])
                        .thenComparingInt(rank -> rank))
                .mapToInt(Integer::intValue)
                .toArray();
    }

    /**
     * Makes a group of the ranks that are on the host of this rank: all ranks gather their hosts, then the ranks of each host
     * call {@link #newGroup}. Ranks are on one host if they have the same {@code ferro.host}. Without this setting, they are
     * on one host if they have the same boot of the same kernel and the same host name, so two containers are two hosts.
     *
     * @return new group, in the order of the ranks of this group
     * @throws IllegalStateException         if the group is closed, or inside {@link #coalesced}
     * @throws UnsupportedOperationException if the back end cannot make groups, or a rank does not know its host because its
     *     system is not Linux and {@code ferro.host} is not set
     * @throws FerroException                if the group fails or has failed, or a rank does not join the new group
     */
    public final ProcessGroup splitByHost() {
        long[] hosts = gatheredHosts("splitByHost");
        long own = hosts[end.backend().rank()];
        return newGroup(ranks(hosts, rank -> hosts[rank] == own));
    }

    /**
     * Makes a group of one rank of each host, the lowest one: all ranks gather their hosts as {@link #splitByHost} does, then
     * these ranks call {@link #newGroup}. A program sums in the group of each host first, then among the hosts.
     *
     * @return new group, in the order of the ranks of this group; empty on all other ranks
     * @throws IllegalStateException         if the group is closed, or inside {@link #coalesced}
     * @throws UnsupportedOperationException as {@link #splitByHost} throws it
     * @throws FerroException                if the group fails or has failed, or a rank does not join the new group
     */
    public final Optional<ProcessGroup> hosts() {
        long[] hosts = gatheredHosts("hosts");
        IntPredicate isFirst = rank -> IntStream.range(0, rank).noneMatch(lower -> hosts[lower] == hosts[rank]);
        return isFirst.test(end.backend().rank()) ? Optional.of(newGroup(ranks(hosts, isFirst))) : Optional.empty();
    }

    private static int[] ranks(long[] hosts, IntPredicate chosen) {
        return IntStream.range(0, hosts.length).filter(chosen).toArray();
    }

    /** Returns a number for the host of each rank; equal numbers stand for one host. */
    private long[] gatheredHosts(String what) {
        end.coalescing().refuse(what);
        String name = Settings.HOST
                .find(end.context())
                .map("name "::concat)
                .orElseGet(() -> end.context().processes().machine());
        // 0 stands for an unknown host
        long own = name.isEmpty() ? 0 : Hashing.of(name) | 1;
        long[] all = new long[end.backend().worldSize()];
        allGather(HostTensor.of(new long[] {own}), HostTensor.of(all));
        for (int rank = 0; rank < all.length; rank++) {
            if (all[rank] == 0) {
                throw new UnsupportedOperationException(what + " of " + all.length + " ranks: rank " + rank
                        + " does not know its host, because its system is not Linux: set ferro.host on each rank");
            }
        }
        return all;
    }
}
