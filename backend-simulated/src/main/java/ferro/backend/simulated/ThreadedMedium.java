package ferro.backend.simulated;

import java.util.concurrent.Executor;
import java.util.function.LongSupplier;

/** Medium for ranks on threads: posts are visible at once, and tasks run on one background thread. */
final class ThreadedMedium implements SimulatedMedium {
    private final TaskQueue background;
    private final LongSupplier clock;

    ThreadedMedium(Executor background, LongSupplier clock) {
        this.background = new TaskQueue(background);
        this.clock = clock;
    }

    @Override
    public void posted(LaneQueue channel, long posts) {
        channel.publish(posts);
    }

    @Override
    public void consumed(LaneQueue channel, long posts, boolean awaited) {
        channel.acknowledge(posts, awaited);
    }

    @Override
    public void made(LaneQueue channel) {
        // all channels are alike
    }

    @Override
    public void died(int rank) {
        // everything it has sent arrives at once
    }

    @Override
    public void later(int from, int to, Runnable task) {
        background.add(task);
    }

    /** Runs the task after every control message sent before: a peer hears of an abort before it finds links ended. */
    @Override
    public void afterPosts(LaneQueue channel, Runnable task) {
        background.add(task);
    }

    @Override
    public Doorbell doorbell(int rank) {
        return new ThreadDoorbell(clock);
    }
}
