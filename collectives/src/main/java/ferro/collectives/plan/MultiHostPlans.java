package ferro.collectives.plan;

import static ferro.collectives.plan.Region.IN;
import static ferro.collectives.plan.Region.OUT;
import static ferro.collectives.plan.Region.SCRATCH;

import java.util.List;

/**
 * Plans for collectives of a group that spans several hosts. On each host one rank, which is the leader of the host or
 * the root, sends and receives for the host. So data crosses between hosts once, and moves through shared memory within
 * a host. Links within a host are rings in shared memory. Links between hosts are links of the underlying medium.
 *
 * <p>Source: Karonis and others 2000, doi:10.1109/IPDPS.2000.846009.
 */
final class MultiHostPlans {
    private MultiHostPlans() {}

    /**
     * Makes an all-reduce by recursive doubling between hosts, as {@link HalvingPlans#doublingAllReduce} does between
     * ranks.
     */
    static Plan smallAllReduce(int rank, Hosts hosts) {
        int host = hosts.of(rank);
        PlanBuilder plan = new PlanBuilder("byHostsDoubling", 1, ChunkExtent.all(1), ChunkExtent.all(1));
        // also needed if nothing is combined: in place, the result must not overwrite the operand too early
        plan.copy(IN, OUT, 0, 1);
        if (rank != hosts.leader(host)) {
            return plan.send(hosts.leader(host), OUT, 0, 1)
                    .receive(hosts.leader(host), OUT, 0, 1)
                    .build();
        }
        for (int member : hosts.beside(rank)) {
            plan.receiveCombine(member, OUT, 0, 1);
        }
        HalvingPlans.addDoubling(plan, host, hosts.count(), hosts);
        for (int member : hosts.beside(rank)) {
            plan.send(member, OUT, 0, 1);
        }
        return plan.build();
    }

    /**
     * Makes an all-reduce in a ring of hosts, with one group of chunks per host. The ranks of a host send chunks in the
     * order in which the ring needs the chunks, and receive chunks in the order in which the ring produces the chunks.
     */
    static Plan largeAllReduce(int rank, Hosts hosts) {
        int host = hosts.of(rank);
        int chunks = ringChunks(hosts);
        PlanBuilder plan = new PlanBuilder("byHostsRing", chunks, ChunkExtent.all(chunks), ChunkExtent.all(chunks));
        if (rank != hosts.leader(host)) {
            for (int chunk : ringOrder(host, hosts)) {
                plan.copy(IN, OUT, chunk, 1).send(hosts.leader(host), OUT, chunk, 1);
            }
            for (int chunk : ringOrder(host + 1, hosts)) {
                plan.receive(hosts.leader(host), OUT, chunk, 1);
            }
            return plan.build();
        }
        List<Integer> members = hosts.beside(rank);
        for (int chunk : ringOrder(host, hosts)) {
            plan.copy(IN, OUT, chunk, 1);
            for (int member : members) {
                plan.receiveCombine(member, OUT, chunk, 1);
            }
        }
        reduceInRing(plan, host, hosts);
        int position = 0;
        int own = ringGroup(host + 1, hosts).count();
        int last = chunks - ringGroup(host + 2, hosts).count();
        for (int chunk : ringOrder(host + 1, hosts)) {
            if (position >= own) {
                plan.receive(hosts.leader(host - 1), OUT, chunk, 1);
            }
            if (position < last) {
                plan.send(hosts.leader(host + 1), OUT, chunk, 1);
            }
            for (int member : members) {
                plan.send(member, OUT, chunk, 1);
            }
            position++;
        }
        return plan.build();
    }

    /** Adds the steps of a leader that sum each chunk around the ring. */
    private static void reduceInRing(PlanBuilder plan, int host, Hosts hosts) {
        for (int i = 0; i < hosts.count() - 1; i++) {
            ChunkExtent sent = ringGroup(host - i, hosts);
            for (int chunk = sent.first(); sent.holds(chunk, 1); chunk++) {
                plan.send(hosts.leader(host + 1), OUT, chunk, 1);
            }
            ChunkExtent received = ringGroup(host - i - 1, hosts);
            for (int chunk = received.first(); received.holds(chunk, 1); chunk++) {
                plan.receiveCombine(hosts.leader(host - 1), OUT, chunk, 1);
            }
        }
    }

    /** Returns the number of chunks of a ring of hosts. A rank's part must be in the chunk group of one host only. */
    private static int ringChunks(Hosts hosts) {
        return hosts.worldSize() % hosts.count() == 0 ? hosts.count() : hosts.worldSize();
    }

    /** Returns the group of chunks that begins its way through the ring at a host. Host numbers wrap around. */
    private static ChunkExtent ringGroup(int host, Hosts hosts) {
        int group = Math.floorMod(host, hosts.count());
        int first = firstOfGroup(group, hosts);
        return new ChunkExtent(first, firstOfGroup(group + 1, hosts) - first);
    }

    /** Returns the first chunk c for which {@code c * hosts / chunks} is at least the number of a host. */
    private static int firstOfGroup(int host, Hosts hosts) {
        return (host * ringChunks(hosts) + hosts.count() - 1) / hosts.count();
    }

    /** Returns all chunks: first the group of chunks that begins at a host, then the groups of the hosts before it. */
    private static int[] ringOrder(int host, Hosts hosts) {
        int[] order = new int[ringChunks(hosts)];
        int filled = 0;
        for (int i = 0; i < hosts.count(); i++) {
            ChunkExtent group = ringGroup(host - i, hosts);
            for (int chunk = group.first(); group.holds(chunk, 1); chunk++) {
                order[filled++] = chunk;
            }
        }
        return order;
    }

    /**
     * Makes an all-gather. The chunks of each host go round the ring of hosts. Each leader sends the chunks to the
     * ranks of its host.
     */
    static Plan allGather(int rank, Hosts hosts) {
        int host = hosts.of(rank);
        int size = hosts.worldSize();
        PlanBuilder plan =
                new PlanBuilder("byHosts", size, ChunkExtent.only(rank), ChunkExtent.all(size)).copy(IN, OUT, rank, 1);
        int leader = hosts.leader(host);
        if (rank != leader) {
            plan.send(leader, OUT, rank, 1);
            for (int i = 0; i < hosts.count(); i++) {
                for (int chunk : hosts.ranks(host - i)) {
                    if (chunk != rank) {
                        plan.receive(leader, OUT, chunk, 1);
                    }
                }
            }
            return plan.build();
        }
        List<Integer> members = hosts.beside(rank);
        members.forEach(member -> plan.receive(member, OUT, member, 1));
        for (int i = 0; i < hosts.count(); i++) {
            List<Integer> chunks = hosts.ranks(host - i);
            if (i > 0) {
                chunks.forEach(chunk -> plan.receive(hosts.leader(host - 1), OUT, chunk, 1));
            }
            if (i < hosts.count() - 1) {
                chunks.forEach(chunk -> plan.send(hosts.leader(host + 1), OUT, chunk, 1));
            }
            for (int member : members) {
                for (int chunk : chunks) {
                    if (chunk != member) {
                        plan.send(member, OUT, chunk, 1);
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
        boolean isRoot = rank == root;
        PlanBuilder plan = new PlanBuilder(
                "byHosts",
                1,
                isRoot ? ChunkExtent.all(1) : ChunkExtent.NONE,
                isRoot ? ChunkExtent.NONE : ChunkExtent.all(1));
        if (rank != speaker) {
            return plan.receive(speaker, OUT, 0, 1).build();
        }
        BinomialPlans.Tree tree = new BinomialPlans.Tree(host, hosts.count(), hosts.of(root));
        Region data = isRoot ? IN : OUT;
        if (!isRoot) {
            plan.receive(speaker(tree.parent(), root, hosts), OUT, 0, 1);
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

    /** Makes a barrier by dissemination between hosts, as {@link HalvingPlans#barrier} does between ranks. */
    static Plan barrier(int rank, Hosts hosts) {
        int host = hosts.of(rank);
        int rounds = HalvingPlans.rounds(hosts.count());
        PlanBuilder plan = new PlanBuilder("byHosts", rounds + 1, ChunkExtent.NONE, ChunkExtent.NONE)
                .scratch(ChunkExtent.all(rounds + 1));
        int leader = hosts.leader(host);
        if (rank != leader) {
            return plan.send(leader, SCRATCH, 0, 1)
                    .receive(leader, SCRATCH, rounds, 1)
                    .build();
        }
        hosts.beside(rank).forEach(member -> plan.receive(member, SCRATCH, 0, 1));
        HalvingPlans.addRounds(plan, host, hosts.count(), hosts);
        hosts.beside(rank).forEach(member -> plan.send(member, SCRATCH, rounds, 1));
        return plan.build();
    }
}
