package ferro.collectives.algorithm;

import ferro.collectives.plan.Extent;
import ferro.collectives.plan.Plan;
import ferro.collectives.plan.PlanBuilder;
import ferro.collectives.plan.Region;
import java.util.List;

/**
 * Plans for collectives of a group that spans several hosts. On each host one rank, its leader or the root, sends and
 * receives for the host. So data crosses between hosts once, and all other data stays in shared memory. The links of
 * these plans are rings in shared memory within a host, and links of the underlying medium between hosts.
 *
 * <p>Source: Karonis and others 2000, doi:10.1109/IPDPS.2000.846009.
 */
final class HostPlans {
    private HostPlans() {}

    /**
     * Makes an all-reduce by recursive doubling between hosts, as {@link RecursiveDoublingAllReduce} does between
     * ranks.
     */
    static Plan smallAllReduce(int rank, Hosts hosts) {
        int host = hosts.of(rank);
        PlanBuilder plan =
                new PlanBuilder("byHostsDoubling", 1).in(Extent.all(1)).out(Extent.all(1));
        // also needed if nothing is combined: in place, the result must not overwrite the operand too early
        plan.copy(Region.IN, Region.OUT, 0, 1);
        if (rank != hosts.leader(host)) {
            return plan.send(hosts.leader(host), Region.OUT, 0, 1)
                    .receive(hosts.leader(host), Region.OUT, 0, 1)
                    .build();
        }
        for (int member : hosts.beside(rank)) {
            plan.receiveCombine(member, Region.OUT, 0, 1);
        }
        doubleBetween(plan, host, hosts);
        for (int member : hosts.beside(rank)) {
            plan.send(member, Region.OUT, 0, 1);
        }
        return plan.build();
    }

    private static void doubleBetween(PlanBuilder plan, int host, Hosts hosts) {
        int core = Integer.highestOneBit(hosts.count());
        if (host >= core) {
            int partner = hosts.leader(host - core);
            plan.send(partner, Region.OUT, 0, 1).receive(partner, Region.OUT, 0, 1);
            return;
        }
        boolean hasExtra = host + core < hosts.count();
        if (hasExtra) {
            plan.receiveCombine(hosts.leader(host + core), Region.OUT, 0, 1);
        }
        plan.scratch(Extent.all(1));
        for (int distance = 1; distance < core; distance *= 2) {
            int peer = hosts.leader(host ^ distance);
            plan.copy(Region.OUT, Region.SCRATCH, 0, 1)
                    .send(peer, Region.SCRATCH, 0, 1)
                    .receiveCombine(peer, Region.OUT, 0, 1);
        }
        if (hasExtra) {
            plan.send(hosts.leader(host + core), Region.OUT, 0, 1);
        }
    }

    /**
     * Makes an all-reduce in a ring of hosts, with one group of chunks per host. The ranks of a host send chunks in the
     * order in which the ring needs them, and receive chunks in the order in which the ring produces them.
     */
    static Plan largeAllReduce(int rank, Hosts hosts) {
        int host = hosts.of(rank);
        int chunks = ringChunks(hosts);
        PlanBuilder plan =
                new PlanBuilder("byHostsRing", chunks).in(Extent.all(chunks)).out(Extent.all(chunks));
        if (rank != hosts.leader(host)) {
            for (int chunk : ringOrder(host, hosts)) {
                plan.copy(Region.IN, Region.OUT, chunk, 1).send(hosts.leader(host), Region.OUT, chunk, 1);
            }
            for (int chunk : ringOrder(host + 1, hosts)) {
                plan.receive(hosts.leader(host), Region.OUT, chunk, 1);
            }
            return plan.build();
        }
        List<Integer> members = hosts.beside(rank);
        for (int chunk : ringOrder(host, hosts)) {
            plan.copy(Region.IN, Region.OUT, chunk, 1);
            for (int member : members) {
                plan.receiveCombine(member, Region.OUT, chunk, 1);
            }
        }
        reduceInRing(plan, host, hosts);
        int position = 0;
        int own = ringGroup(host + 1, hosts).count();
        int last = chunks - ringGroup(host + 2, hosts).count();
        for (int chunk : ringOrder(host + 1, hosts)) {
            if (position >= own) {
                plan.receive(hosts.leader(host - 1), Region.OUT, chunk, 1);
            }
            if (position < last) {
                plan.send(hosts.leader(host + 1), Region.OUT, chunk, 1);
            }
            for (int member : members) {
                plan.send(member, Region.OUT, chunk, 1);
            }
            position++;
        }
        return plan.build();
    }

    /** Adds the steps of a leader that sum each chunk around the ring. */
    private static void reduceInRing(PlanBuilder plan, int host, Hosts hosts) {
        for (int i = 0; i < hosts.count() - 1; i++) {
            Extent sent = ringGroup(host - i, hosts);
            for (int chunk = sent.first(); sent.holds(chunk, 1); chunk++) {
                plan.send(hosts.leader(host + 1), Region.OUT, chunk, 1);
            }
            Extent received = ringGroup(host - i - 1, hosts);
            for (int chunk = received.first(); received.holds(chunk, 1); chunk++) {
                plan.receiveCombine(hosts.leader(host - 1), Region.OUT, chunk, 1);
            }
        }
    }

    /** Returns the number of chunks of a ring of hosts. No part of a rank may be in the groups of two hosts. */
    private static int ringChunks(Hosts hosts) {
        return hosts.worldSize() % hosts.count() == 0 ? hosts.count() : hosts.worldSize();
    }

    /** Returns the chunks that begin at a host. Host numbers wrap around. */
    private static Extent ringGroup(int host, Hosts hosts) {
        int group = Math.floorMod(host, hosts.count());
        int first = firstOfGroup(group, hosts);
        return new Extent(first, firstOfGroup(group + 1, hosts) - first);
    }

    /** Returns the first chunk c for which c * hosts / chunks is at least a host. */
    private static int firstOfGroup(int host, Hosts hosts) {
        return (host * ringChunks(hosts) + hosts.count() - 1) / hosts.count();
    }

    /**
     * Returns all chunks: first the chunks that begin at a host, then the chunks that begin at the hosts before it.
     */
    private static int[] ringOrder(int host, Hosts hosts) {
        int[] order = new int[ringChunks(hosts)];
        int filled = 0;
        for (int i = 0; i < hosts.count(); i++) {
            Extent group = ringGroup(host - i, hosts);
            for (int chunk = group.first(); group.holds(chunk, 1); chunk++) {
                order[filled++] = chunk;
            }
        }
        return order;
    }

    /** Makes a reduce-scatter with the same bits as {@link #smallAllReduce}. */
    static Plan smallReduceScatter(int rank, Hosts hosts) {
        return TreeReduceScatter.plan("byHostsDoubling", rank, ReductionTree.doubling(hosts));
    }

    /** Makes a reduce-scatter with the same bits as {@link #largeAllReduce}. */
    static Plan largeReduceScatter(int rank, Hosts hosts) {
        return TreeReduceScatter.plan("byHostsRing", rank, ReductionTree.ring(hosts));
    }

    /**
     * Makes an all-gather. The chunks of each host go round the ring of hosts, and each leader sends them to the ranks
     * of its host.
     */
    static Plan allGather(int rank, Hosts hosts) {
        int host = hosts.of(rank);
        int size = hosts.worldSize();
        PlanBuilder plan =
                new PlanBuilder("byHosts", size).in(Extent.only(rank)).out(Extent.all(size));
        plan.copy(Region.IN, Region.OUT, rank, 1);
        int leader = hosts.leader(host);
        if (rank != leader) {
            plan.send(leader, Region.OUT, rank, 1);
            for (int i = 0; i < hosts.count(); i++) {
                for (int chunk : hosts.ranks(host - i)) {
                    if (chunk != rank) {
                        plan.receive(leader, Region.OUT, chunk, 1);
                    }
                }
            }
            return plan.build();
        }
        List<Integer> members = hosts.beside(rank);
        members.forEach(member -> plan.receive(member, Region.OUT, member, 1));
        for (int i = 0; i < hosts.count(); i++) {
            List<Integer> chunks = hosts.ranks(host - i);
            if (i > 0) {
                chunks.forEach(chunk -> plan.receive(hosts.leader(host - 1), Region.OUT, chunk, 1));
            }
            if (i < hosts.count() - 1) {
                chunks.forEach(chunk -> plan.send(hosts.leader(host + 1), Region.OUT, chunk, 1));
            }
            for (int member : members) {
                for (int chunk : chunks) {
                    if (chunk != member) {
                        plan.send(member, Region.OUT, chunk, 1);
                    }
                }
            }
        }
        return plan.build();
    }

    /**
     * Makes a broadcast down a binomial tree of hosts, then to each rank of a host. On its own host, the root acts as
     * the leader.
     */
    static Plan broadcast(int rank, int root, Hosts hosts) {
        int host = hosts.of(rank);
        int speaker = speaker(host, root, hosts);
        PlanBuilder plan = new PlanBuilder("byHosts", 1);
        if (rank != speaker) {
            return plan.out(Extent.all(1)).receive(speaker, Region.OUT, 0, 1).build();
        }
        BinomialTree tree = new BinomialTree(host, hosts.count(), hosts.of(root));
        Region data = rank == root ? Region.IN : Region.OUT;
        if (rank == root) {
            plan.in(Extent.all(1));
        } else {
            plan.out(Extent.all(1)).receive(speaker(tree.parent(), root, hosts), Region.OUT, 0, 1);
        }
        for (int distance = tree.low() / 2; distance > 0; distance /= 2) {
            if (tree.hasChild(distance)) {
                plan.send(speaker(tree.child(distance), root, hosts), data, 0, 1);
            }
        }
        for (int member : hosts.beside(rank)) {
            plan.send(member, data, 0, 1);
        }
        return plan.build();
    }

    private static int speaker(int host, int root, Hosts hosts) {
        return host == hosts.of(root) ? root : hosts.leader(host);
    }

    /** Makes a barrier by dissemination between hosts, as {@link DisseminationBarrier} does between ranks. */
    static Plan barrier(int rank, Hosts hosts) {
        int host = hosts.of(rank);
        int rounds = Integer.SIZE - Integer.numberOfLeadingZeros(hosts.count() - 1);
        PlanBuilder plan = new PlanBuilder("byHosts", rounds + 1).scratch(Extent.all(rounds + 1));
        int leader = hosts.leader(host);
        if (rank != leader) {
            return plan.send(leader, Region.SCRATCH, 0, 1)
                    .receive(leader, Region.SCRATCH, rounds, 1)
                    .build();
        }
        hosts.beside(rank).forEach(member -> plan.receive(member, Region.SCRATCH, 0, 1));
        for (int round = 0; round < rounds; round++) {
            int distance = 1 << round;
            plan.send(hosts.leader(host + distance), Region.SCRATCH, round, 1);
            plan.receive(hosts.leader(host - distance), Region.SCRATCH, round + 1, 1);
        }
        hosts.beside(rank).forEach(member -> plan.send(member, Region.SCRATCH, rounds, 1));
        return plan.build();
    }
}
