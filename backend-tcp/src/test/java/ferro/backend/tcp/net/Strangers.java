package ferro.backend.tcp.net;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Connections that stay in their handshake: some say nothing, the others a byte of a right hello every 20 ms. */
public final class Strangers implements AutoCloseable {
    private static final int LEAST_BYTES = 2;

    private final List<Stranger> all = new ArrayList<>();
    private final AtomicInteger bytes = new AtomicInteger();
    private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "test-strangers");
        thread.setDaemon(true);
        return thread;
    });
    private final Future<?> dripping;

    private Strangers(int port, int idleCount, int drippingCount, Hello hello) {
        for (int i = 0; i < idleCount + drippingCount; i++) {
            all.add(Stranger.at(port));
        }
        byte[] opening = hello.encoded();
        List<Stranger> drips = all.subList(idleCount, all.size());
        dripping = clock.scheduleAtFixedRate(() -> drip(drips, opening), 0, 20, TimeUnit.MILLISECONDS);
    }

    public static Strangers at(int port, int idleCount, int drippingCount, Hello hello) {
        return new Strangers(port, idleCount, drippingCount, hello);
    }

    private void drip(List<Stranger> drips, byte[] opening) {
        int next = bytes.get();
        if (next < opening.length) {
            drips.forEach(stranger -> stranger.say(opening[next]));
            bytes.incrementAndGet();
        }
    }

    /** Ends the dripping; returns whether it went on until now, and none of them was refused, dropped or answered. */
    public boolean areThere() {
        // to look at them all takes a busy machine as long as the rest of the hello does
        return dripping.cancel(false)
                && bytes.get() >= LEAST_BYTES
                && all.stream().noneMatch(stranger -> stranger.hears(1));
    }

    @Override
    public void close() {
        clock.shutdownNow();
        all.forEach(Stranger::close);
    }
}
