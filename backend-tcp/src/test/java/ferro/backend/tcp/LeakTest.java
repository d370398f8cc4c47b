package ferro.backend.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.FerroException;
import ferro.HostTensor;
import ferro.ReduceOp;
import ferro.backend.tcp.mesh.Ranks;
import ferro.backend.tcp.mesh.TcpMesh;
import ferro.backend.tcp.net.Threads;
import ferro.backend.tcp.store.JoiningContext;
import ferro.collectives.CollectiveEngine;
import ferro.group.ProcessGroup;
import ferro.spi.GroupSpec;
import io.netty.buffer.ByteBufUtil;
import io.netty.util.ResourceLeakDetector;
import io.netty.util.internal.PlatformDependent;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Groups that come and go, in order and by every fault, leave nothing behind. {@code -Dferro.leak.cycles=500} and
 * {@code -Dferro.leak.faults=50} are what is promised; fewer in every build.
 */
@Tag("long")
@Timeout(600)
class LeakTest {
    private static final int CYCLES = Integer.getInteger("ferro.leak.cycles", 20);
    private static final int FAULTS = Integer.getInteger("ferro.leak.faults", 10);
    /** Until pools and caches are as large as they get. */
    private static final int WARM_UP = 5;

    private static final int RANKS = 3;
    /** Netty's pool keeps a few chunks of 128 KiB more or less; one leak in each of 500 groups would be far more. */
    private static final long CHUNKS_BYTES = 512 << 10;
    /**
     * A leak takes more memory in each round. The pool takes more in some: threads that meet at a chunk get chunks of their
     * own, until each thread has one.
     */
    private static final int ROUNDS = 5;

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final ConcurrentLinkedQueue<String> leaks = new ConcurrentLinkedQueue<>();
    private ResourceLeakDetector.Level before;

    @BeforeEach
    void watch() {
        before = ResourceLeakDetector.getLevel();
        ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.PARANOID);
        ByteBufUtil.setLeakListener((type, records) -> leaks.add(type + " " + records));
    }

    @AfterEach
    void watchNoMore() {
        ResourceLeakDetector.setLevel(before);
        ByteBufUtil.setLeakListener(null);
    }

    @Test
    @DisplayName("row 29: groups that are made and closed leave no thread, descriptor or memory")
    void groupsThatAreMadeAndClosedLeaveNothing() throws InterruptedException {
        for (int cycle = 0; cycle < WARM_UP; cycle++) {
            makeAndClose(cycle);
        }
        assertNothingMore(CYCLES + " groups", () -> {
            for (int cycle = 0; cycle < CYCLES; cycle++) {
                makeAndClose(cycle);
            }
        });
    }

    @Test
    @DisplayName("row 29: groups that fail in every way leave no thread, descriptor or memory")
    void groupsThatFailInAnyWayLeaveNothing() throws InterruptedException {
        for (Fault fault : Fault.values()) {
            failAndClose(fault);
        }
        assertNothingMore(FAULTS + " faults", () -> {
            for (int cycle = 0; cycle < FAULTS; cycle++) {
                failAndClose(Fault.values()[cycle % Fault.values().length]);
            }
        });
    }

    /** After one round or more there are as many threads and descriptors as before all, and as much memory as before it. */
    private void assertNothingMore(String what, Runnable round) throws InterruptedException {
        List<Held> all = new ArrayList<>(List.of(Held.settled(null)));
        Held first = all.get(0);
        boolean grows = true;
        for (int done = 0; grows && done < ROUNDS; done++) {
            Held before = all.get(done);
            round.run();
            Held after = Held.settled(before);
            all.add(after);
            String held = "after each round of " + what + ": " + all;
            assertTrue(after.threads <= first.threads && after.descriptors <= first.descriptors, held);
            grows = !after.fits(before);
        }
        assertFalse(grows, "memory grows in each round of " + what + ": " + all);
        assertEquals(List.of(), List.copyOf(leaks));
    }

    private static void makeAndClose(int cycle) {
        try (TcpJob job = TcpJob.of(RANKS)) {
            List<ProcessGroup> groups = job.joinAll("g");
            TcpJob.onAll(groups, group -> {
                AbortBesideSiblingTest.sum(group, cycle, 10_000);
                try (ProcessGroup sub = group.newGroup(0, 1, 2)) {
                    AbortBesideSiblingTest.sum(sub, cycle, 1_000);
                }
                group.close();
                return null;
            });
        }
    }

    private static void failAndClose(Fault fault) {
        try (Ranks ranks = Ranks.onLoopback()) {
            List<CompletableFuture<Member>> joining = new ArrayList<>();
            for (int rank = 0; rank < RANKS; rank++) {
                GroupSpec spec = GroupSpec.of("g", rank, RANKS, Ranks.LONG);
                JoiningContext context = ranks.context(spec, Map.of());
                joining.add(Threads.start(() -> Member.joined(spec, context)));
            }
            List<Member> members = joining.stream().map(Ranks::result).toList();
            List<ProcessGroup> groups = members.stream().map(Member::group).toList();
            TcpJob.onAll(groups, group -> AbortBesideSiblingTest.sum(group, 3, 10_000));
            TcpJob.onAll(groups, group -> {
                try {
                    fault.happensTo(group, members.get(group.rank()).mesh);
                } catch (FerroException | IllegalStateException expected) {
                    return null;
                }
                throw new AssertionError(fault + " did no harm");
            });
            groups.forEach(ProcessGroup::close);
        }
    }

    /** A rank, and what can be taken away below it. */
    private record Member(TcpMesh mesh, ProcessGroup group) {
        static Member joined(GroupSpec spec, JoiningContext context) {
            TcpMesh mesh = TcpMesh.join(spec, context);
            TcpTransport transport = new TcpTransport(mesh, 0, new int[] {0, 1, 2}, System::nanoTime);
            return new Member(mesh, ProcessGroup.of(CollectiveEngine.over(transport, spec, context)));
        }
    }

    /** What happens to rank 1 of a group; all ranks call this. */
    private enum Fault {
        ABORT {
            @Override
            void on(ProcessGroup group, float[] data) {
                group.abort(new IllegalStateException("the fault"));
            }
        },
        INTERRUPT {
            @Override
            void on(ProcessGroup group, float[] data) {
                try {
                    // a call that never waits does not notice
                    while (true) {
                        Thread.currentThread().interrupt();
                        group.allReduce(data, ReduceOp.SUM);
                    }
                } finally {
                    Thread.interrupted();
                }
            }
        },
        TIME_OUT {
            @Override
            void on(ProcessGroup group, float[] data) {
                // never calls until the others have given up
                while (group.failure().isEmpty()) {
                    Thread.yield();
                }
            }
        },
        MISMATCH {
            @Override
            void on(ProcessGroup group, float[] data) {
                group.allReduce(data, ReduceOp.MAX);
            }
        },
        LOST {
            @Override
            void on(TcpMesh mesh) {
                mesh.drop();
                throw new IllegalStateException("the dead call nothing");
            }
        },
        CLOSE {
            @Override
            void on(ProcessGroup group, float[] data) {
                group.allReduceAsync(HostTensor.of(data), ReduceOp.SUM);
                group.close(Duration.ofMillis(1));
            }
        };

        void happensTo(ProcessGroup group, TcpMesh mesh) {
            float[] data = new float[300_000];
            if (group.rank() == 1) {
                on(mesh);
                on(group, data);
            }
            ProcessGroup caller = this == TIME_OUT ? group.within(Duration.ofMillis(300)) : group;
            while (true) {
                caller.allReduce(data, ReduceOp.SUM);
            }
        }

        void on(ProcessGroup group, float[] data) {}

        void on(TcpMesh mesh) {}
    }

    /**
     * What this process holds.
     *
     * @param threads     of ours
     * @param descriptors of all kinds
     * @param jvmBytes    direct memory that the JVM counts
     * @param nettyBytes  direct memory that Netty counts
     */
    private record Held(long threads, long descriptors, long jvmBytes, long nettyBytes) {
        boolean fits(Held first) {
            return threads <= first.threads
                    && descriptors <= first.descriptors
                    && jvmBytes <= first.jvmBytes + CHUNKS_BYTES
                    && nettyBytes <= first.nettyBytes + CHUNKS_BYTES;
        }

        /** Looks until it fits; memory is given back by the collector, threads end a little later than their owner. */
        static Held settled(Held first) throws InterruptedException {
            long deadline = System.nanoTime() + PATIENCE.toNanos();
            Held last = null;
            while (true) {
                System.gc();
                TimeUnit.MILLISECONDS.sleep(100);
                Held now = now();
                boolean settled = first == null ? now.equals(last) : now.fits(first);
                if (settled || System.nanoTime() - deadline > 0) {
                    return now;
                }
                last = now;
            }
        }

        static Held now() {
            long threads = Thread.getAllStackTraces().keySet().stream()
                    .filter(thread -> thread.getName().startsWith("ferro-"))
                    .count();
            try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
                return new Held(threads, files.count(), jvmDirect(), PlatformDependent.usedDirectMemory());
            } catch (IOException gone) {
                throw new AssertionError("cannot list /proc/self/fd", gone);
            }
        }

        /** By reflection, because this module does not read java.management. */
        private static long jvmDirect() {
            try {
                Class<?> factory = Class.forName("java.lang.management.ManagementFactory");
                Class<?> bean = Class.forName("java.lang.management.BufferPoolMXBean");
                for (Object pool : (List<?>)
                        factory.getMethod("getPlatformMXBeans", Class.class).invoke(null, bean)) {
                    if (bean.getMethod("getName").invoke(pool).equals("direct")) {
                        return (Long) bean.getMethod("getMemoryUsed").invoke(pool);
                    }
                }
                throw new AssertionError("no pool of direct memory");
            } catch (ClassNotFoundException
                    | NoSuchMethodException
                    | IllegalAccessException
                    | InvocationTargetException unknown) {
                throw new AssertionError("cannot look at direct memory", unknown);
            }
        }
    }
}
