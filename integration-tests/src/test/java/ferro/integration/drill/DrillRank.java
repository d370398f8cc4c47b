package ferro.integration.drill;

import ferro.FerroException;
import ferro.GroupEvent;
import ferro.ReduceOp;
import ferro.group.Groups;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.spi.GroupSpec;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * A rank of the drill: does what its input tells it, one command a line, and prints what happens, one line each. It ends with
 * its input. {@code at} and {@code begun} are stamps of the clock that all processes of a host share.
 */
public final class DrillRank {
    private static final long SETTLE_MILLIS = 100;
    private static final long WATCH_NANOS = 1_000_000L;
    /** What the parent's death ends us with. */
    private static final int ORPHAN = 3;

    private final ExecutorService calls = Executors.newSingleThreadExecutor(task -> new Thread(task, "drill-calls"));
    private final AtomicBoolean pausing = new AtomicBoolean();
    private volatile ProcessGroup group;
    /** Of the group that commands call: the joined one, or the part of it that was made last. */
    private volatile ProcessGroup part;
    /** Thread that prints which ranks are lost; null without. */
    private volatile Thread watch;

    private DrillRank() {}

    public static void main(String[] arguments) throws IOException {
        DrillRank rank = new DrillRank();
        say(Line.of("started"));
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            rank.obey(Line.parse(line));
        }
        Runtime.getRuntime().halt(ORPHAN);
    }

    private void obey(Line command) {
        switch (command.tag()) {
            case "join" -> calls.execute(() -> join(command));
            case "part" -> calls.execute(() -> part(command));
            case "sums" -> calls.execute(() -> sums(command));
            case "one" -> calls.execute(() -> one(command));
            case "close" -> calls.execute(this::close);
            case "pause" -> pausing.set(true);
            case "lost" -> watchLostRanks(group);
            case "abort" -> {
                say(Line.of("aborting").with("at", System.nanoTime()));
                group.abort(new IllegalStateException(command.text()));
            }
            case "exit" -> {
                say(Line.of("exiting").with("at", System.nanoTime()));
                System.exit((int) command.number("code"));
            }
            default -> throw new IllegalArgumentException("no command " + command);
        }
    }

    private void join(Line command) {
        Map<String, String> settings = command.values();
        int rank = (int) command.number("ferro.rank");
        int worldSize = (int) command.number("ferro.world.size");
        Duration timeout = Duration.ofMillis(command.number("timeout"));
        long begun = System.nanoTime();
        try {
            group = Groups.join(
                    GroupSpec.of("world", rank, worldSize, timeout), SystemContext.of(Map.copyOf(settings)));
            part = group;
            group.onEvent(DrillRank::tell);
            say(Line.of("joined").with("rank", rank).saying(group.linkReport()));
        } catch (FerroException failure) {
            stamped("unjoined", begun, failure);
        }
    }

    private static void tell(GroupEvent event) {
        say(Line.of("event")
                .with("at", System.nanoTime())
                .with("kind", event.kind())
                .with("ranks", event.ranks().toString().replaceAll("[\\[\\] ]", ""))
                .saying(event.text()));
    }

    private void part(Line command) {
        int[] ranks = command.culprits().stream().mapToInt(rank -> rank).toArray();
        long begun = System.nanoTime();
        try {
            part = part.newGroup(ranks);
            say(Line.of("parted").with("rank", part.rank()));
        } catch (FerroException failure) {
            stamped("unparted", begun, failure);
        }
    }

    /** Adds up until all are told to pause, which element 0 carries to all of them in the same call, or until a failure. */
    private void sums(Line command) {
        float[] data = new float[(int) command.number("elements")];
        ProcessGroup calling = part.within(Duration.ofMillis(command.number("timeout")));
        pausing.set(false);
        long begun = System.nanoTime();
        try {
            for (int call = 1; ; call++) {
                float pause = pausing.get() ? 1 : 0;
                begun = System.nanoTime();
                sum(calling, data, pause);
                if (call == command.number("warm")) {
                    say(Line.of("going").with("at", System.nanoTime()));
                }
                if (data[0] > 0) {
                    say(Line.of("paused").with("calls", call));
                    return;
                }
            }
        } catch (FerroException failure) {
            long failed = System.nanoTime();
            say(Line.of("failed", failure)
                    .with("lost", numbers(part.lost()))
                    .with("begun", begun)
                    .with("at", failed));
            if (command.value("leave").equals("true")) {
                System.exit(1);
            }
            settle(begun);
        }
    }

    private void one(Line command) {
        float[] data = new float[(int) command.number("elements")];
        long begun = System.nanoTime();
        try {
            sum(part.within(Duration.ofMillis(command.number("timeout"))), data, 0);
            say(Line.of("done").with("begun", begun).with("at", System.nanoTime()));
        } catch (FerroException failure) {
            stamped("refused", begun, failure);
        }
    }

    private static void sum(ProcessGroup calling, float[] data, float pause) {
        for (int at = 1; at < data.length; at++) {
            data[at] = (calling.rank() + 2) * (at % 7 + 1);
        }
        data[0] = pause;
        calling.allReduce(data, ReduceOp.SUM);
        int size = calling.worldSize();
        int ranks = size * (size + 3) / 2;
        for (int at = 1; at < data.length; at++) {
            if (data[at] != ranks * (at % 7 + 1)) {
                say(Line.of("wrong").with("element", at).with("found", data[at]));
                return;
            }
        }
    }

    /** What the group itself says when its ranks had the time they are promised to agree. */
    private void settle(long begun) {
        try {
            new CountDownLatch(1).await(SETTLE_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException nobody) {
            throw new IllegalStateException("nobody interrupts this thread", nobody);
        }
        Optional<FerroException> failure = part.failure();
        if (failure.isPresent()) {
            stamped("settled", begun, failure.get());
        } else {
            say(Line.of("settled").with("code", "none").with("culprits", ""));
        }
    }

    /** Prints {@code lost()} of a group after each change, until the group is closed. */
    private void watchLostRanks(ProcessGroup watched) {
        watch = new Thread(
                () -> {
                    Set<Integer> printed = Set.of();
                    while (!Thread.currentThread().isInterrupted()) {
                        Set<Integer> lost = watched.lost();
                        if (!lost.equals(printed)) {
                            say(Line.of("lost").with("at", System.nanoTime()).with("culprits", numbers(lost)));
                            printed = lost;
                        }
                        LockSupport.parkNanos(WATCH_NANOS);
                    }
                },
                "drill-lost");
        watch.setDaemon(true);
        watch.start();
        say(Line.of("watching"));
    }

    private static String numbers(Set<Integer> ranks) {
        return ranks.toString().replaceAll("[\\[\\] ]", "");
    }

    private void close() {
        if (watch != null) {
            watch.interrupt();
        }
        long begun = System.nanoTime();
        group.close();
        say(Line.of("closed").with("begun", begun).with("at", System.nanoTime()));
    }

    private static void stamped(String tag, long begun, FerroException failure) {
        long now = System.nanoTime();
        say(Line.of(tag, failure).with("begun", begun).with("at", now));
    }

    private static synchronized void say(Line line) {
        System.out.println(line);
    }
}
