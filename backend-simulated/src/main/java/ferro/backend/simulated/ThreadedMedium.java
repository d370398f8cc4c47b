package ferro.backend.simulated;

import java.util.concurrent.Executor;
import java.util.function.LongSupplier;

/** Ranks on threads: posts are seen at once, tasks run on one background thread. */
final class ThreadedMedium implements Medium {
    private final Errands background;
    private final LongSupplier clock;

    ThreadedMedium(Executor background, LongSupplier clock) {
        this.background = new Errands(background);
        this.clock = clock;
    }

    @Override
    public void posted(Channel channel, long posts) {
        channel.publish(posts);
    }

    @Override
    public void consumed(Channel channel, long posts, boolean awaited) {
        channel.acknowledge(posts, awaited);
    }

    @Override
    public void made(Channel channel) {
        // all channels are alike
    }

    @Override
    public void died(int rank) {
        // what it has sent arrives at once
    }

    @Override
    public void later(int from, int to, Runnable task) {
        background.add(task);
    }

    /** Behind every control message sent before, so that a peer hears of an abort before it finds the links ended. */
    @Override
    public void afterPosts(Channel channel, Runnable task) {
        background.add(task);
    }

    @Override
    public Bell bell(int rank) {
        return new ThreadBell(clock);
    }
}
