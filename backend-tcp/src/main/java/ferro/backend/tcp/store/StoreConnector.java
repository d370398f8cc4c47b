package ferro.backend.tcp.store;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.Store;
import ferro.backend.tcp.net.AddressLookup;
import ferro.backend.tcp.net.LoopWaiter;
import ferro.backend.tcp.net.Refusal;
import ferro.backend.tcp.store.JobAddressFile.JobFileContent;
import ferro.spi.Deadlines;
import ferro.spi.GroupSpec;
import ferro.spi.JoinProgressPrinter;
import ferro.spi.RankContext;
import ferro.spi.ServedStore;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** Opens the store of a rendezvous. Serves the store first if this rank is the server. */
public final class StoreConnector {
    private static final long LOOK_MILLIS = 50;
    private static final long LONGEST_LOOK_MILLIS = 1_000;

    private final GroupSpec group;
    private final RankContext context;
    private final Where where;
    private final JoinProgress progress;
    private final SlotWait place;

    /** Receives the progress lines about the join; null if the lines are logged. */
    private final Consumer<String> line;

    private StoreConnector(GroupSpec group, RankContext context, Consumer<String> line) {
        this.group = group;
        this.context = context;
        this.line = line;
        where = Where.of(group.name(), group.rank());
        progress = JoinProgress.begin(group, context);
        place = new SlotWait(group, context, progress);
    }

    /** Opens the store at a known address. If this rank is the server, serves the store first. */
    public static Store open(Rendezvous meeting, GroupSpec group, RankContext context) {
        return open(meeting, group, context, null);
    }

    /**
     * Opens the store. {@code line} receives the progress lines of the {@link JoinProgress}; if it is null, they are
     * logged.
     */
    public static Store open(Rendezvous meeting, GroupSpec group, RankContext context, Consumer<String> line) {
        StoreConnector opening = new StoreConnector(group, context, line);
        return opening.open(new OpeningAttempt() {
            @Override
            public TcpStore open() {
                return opening.named(meeting);
            }
        });
    }

    /** Opens the store that a job file names. If this rank is rank 0, first serves the store and writes the file. */
    public static Store open(JobFileRendezvous meeting, GroupSpec group, RankContext context) {
        StoreConnector opening = new StoreConnector(group, context, null);
        return opening.open(() -> meeting.servedHere() ? opening.told(meeting) : opening.read(meeting));
    }

    /** Serves the store before this rank joins. */
    public static ServedStore serve(Rendezvous meeting, GroupSpec group, RankContext context) {
        long deadline = context.nanoTime() + Deadlines.nanos(Deadlines.ofJoin(group, context));
        TcpPort port = TcpPort.serving(meeting, group, context, deadline);
        return new PortStore(
                AddressLookup.text(port.advertised(), port.bound().getPort()),
                () -> context.release(TcpPort.class),
                new AtomicBoolean());
    }

    /** A store at the port of a rank. The store is one user of the port. */
    private record PortStore(String endpoint, Runnable release, AtomicBoolean closed) implements ServedStore {
        @Override
        public void close() {
            if (!closed.getAndSet(true)) {
                release.run();
            }
        }
    }

    /** One complete attempt to open a store. */
    private interface OpeningAttempt {
        TcpStore open();
    }

    private Store open(OpeningAttempt way) {
        JoinProgressPrinter.PhasePrinter lines = progress.lines(line);
        try {
            while (true) {
                TcpStore store = way.open();
                if (store.servedHere() || isFree(store)) {
                    progress.work();
                    return store;
                }
                // the store has ended together with the job whose process had this rank's slot, so the next store
                // belongs to the new job
                store.close();
            }
        } finally {
            lines.close();
        }
    }

    private boolean isFree(TcpStore store) {
        TcpPort port = context.find(TcpPort.class).orElseThrow();
        try {
            return place.isFree(store, port);
        } catch (RuntimeException | Error failure) {
            store.close();
            throw failure;
        } finally {
            context.release(TcpPort.class);
        }
    }

    /** Opens the store of a rendezvous with a known address. */
    private TcpStore named(Rendezvous meeting) {
        return opened(meeting, () -> false).get();
    }

    /** Serves the store, and writes the job file for the other ranks. */
    private TcpStore told(JobFileRendezvous meeting) {
        Rendezvous own = meeting.own(context, where);
        TcpPort port = TcpPort.serving(own, group, context, progress.deadlineNanos());
        try {
            if (group.worldSize() > 1) {
                WrittenJobFile written = meeting.write(port, context, where);
                port.atClose(written::remove);
                port.allJoined(group.name()).thenRunAsync(written::remove);
            }
            return named(own);
        } finally {
            context.release(TcpPort.class);
        }
    }

    /**
     * Reads the job file repeatedly until the file names a server that answers. The file may remain from an earlier
     * start of the job.
     */
    private TcpStore read(JobFileRendezvous meeting) {
        JobAddressFile file = meeting.file();
        Optional<JobFileContent> tried = Optional.empty();
        FerroException refused = null;
        for (long pauseMillis = LOOK_MILLIS; true; pauseMillis = Math.min(2 * pauseMillis, LONGEST_LOOK_MILLIS)) {
            Optional<JobFileContent> found = file.read(where);
            if (found.isPresent() && !found.equals(tried)) {
                tried = found;
                refused = null;
                try {
                    Optional<TcpStore> store = opened(meeting.told(found.get()), () -> !found.equals(file.read(where)));
                    if (store.isPresent()) {
                        return store.get();
                    }
                    tried = Optional.empty();
                } catch (FerroException failure) {
                    refused = ofAnEarlierStart(failure);
                }
            }
            String lacking = lacking(file, tried, refused);
            JoinState.JobFileWait reading = new JoinState.JobFileWait(group.worldSize(), lacking);
            progress.enter(reading);
            if (context.nanoTime() - progress.deadlineNanos() >= 0) {
                throw missing(lacking, refused);
            }
            pause(pauseMillis, reading);
        }
    }

    /**
     * Returns the failure if it means that the job file remains from an earlier start: no process, or a process of
     * another job, listens at the address in the file. Otherwise throws the failure.
     */
    private FerroException ofAnEarlierStart(FerroException failure) {
        boolean another = failure.code() == Code.UNAUTHENTICATED && failure.getCause() instanceof Refusal;
        boolean none = failure.code() == Code.RENDEZVOUS && !progress.isOfThisRank(failure);
        if (another || none) {
            return failure;
        }
        throw failure;
    }

    private static String lacking(JobAddressFile file, Optional<JobFileContent> tried, FerroException refused) {
        return tried.map(entry ->
                        "the job file " + file.path() + " names " + AddressLookup.text(entry.host(), entry.port())
                                + ", where rank 0 of this job does not answer"
                                + (refused == null ? "" : " (" + refused.getMessage() + ")"))
                .orElse("rank 0 has written no job file " + file.path());
    }

    private FerroException missing(String lacking, FerroException refused) {
        return new FerroException(
                Code.RENDEZVOUS,
                where.blaming(0),
                progress.failed() + " after " + progress.millis() + " ms: rank 0 is missing, " + lacking
                        + "; check whether rank 0 runs and sees the same folder: it writes the file there once "
                        + "it has bound its port, and deletes it when all ranks have joined. FERRO_JOB_DIR "
                        + "names another folder that all hosts share; if there is none, set MASTER_ADDR, "
                        + "MASTER_PORT and FERRO_SECRET_FILE. A single rank that is restarted waits here until "
                        + "the others are restarted too (ferro.join.timeout sets the time)",
                refused);
    }

    private void pause(long millis, JoinState.JobFileWait reading) {
        LoopWaiter.pause(
                millis,
                progress.deadlineNanos() - context.nanoTime(),
                where,
                () -> "interrupted while joining \"" + group.name() + "\" as rank " + group.rank() + ": "
                        + reading.text());
    }

    /**
     * Opens the store. Returns empty if {@code outdated} has returned true, which means that the address is no longer
     * valid.
     */
    private Optional<TcpStore> opened(Rendezvous meeting, BooleanSupplier outdated) {
        resolve(meeting.host());
        progress.work();
        long deadline = progress.deadlineNanos();
        TcpPort port = meeting.servedHere()
                ? TcpPort.serving(meeting, group, context, deadline)
                : TcpPort.use(meeting, group, context, deadline);
        StoreDialer dialling = new StoreDialer(meeting, group, context, port, progress);
        boolean open = false;
        try {
            Optional<Channel> channel = dialling.connected(outdated);
            if (channel.isEmpty()) {
                return Optional.empty();
            }
            TcpStore store = opened(channel.get(), dialling, meeting);
            watch(channel.get(), store, port, dialling.at(channel.get()));
            open = true;
            progress.askStore(meeting.servedHere());
            return Optional.of(store);
        } finally {
            if (!open) {
                context.release(TcpPort.class);
            }
        }
    }

    /**
     * Waits until the name of the store's host has an address. The wait takes time only if the name is not yet known,
     * for example because rank 0 starts late.
     */
    private void resolve(String host) {
        if (!AddressLookup.isLiteral(host)) {
            progress.enter(new JoinState.HostLookup(host, progress.starting()));
            AddressLookup.allResolved(host, progress.deadlineNanos(), context, where);
        }
    }

    private TcpStore opened(Channel channel, StoreDialer dialling, Rendezvous meeting) {
        return new TcpStore(
                channel,
                new TcpStore.StoreOptions(
                        dialling.what(),
                        where,
                        context::nanoTime,
                        progress,
                        group.timeout(),
                        meeting.servedHere(),
                        () -> context.release(TcpPort.class)));
    }

    private static void watch(Channel channel, TcpStore store, TcpPort port, InetSocketAddress at) {
        port.storeLost(at, false);
        channel.closeFuture().addListener(new ChannelFutureListener() {
            @Override
            public void operationComplete(ChannelFuture end) {
                port.storeLost(at, !store.isClosed());
            }
        });
    }
}
