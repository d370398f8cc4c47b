package ferro.launcher.nodes;

import ferro.launcher.rank.JobEvent;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** The events of other nodes that one launcher receives, as texts. */
record HeardNews(BlockingQueue<JobEvent> events) {
    static HeardNews begin(LauncherConnections nodes) {
        HeardNews heard = new HeardNews(new LinkedBlockingQueue<>());
        nodes.begin(heard.events, () -> {});
        return heard;
    }

    String next() throws InterruptedException {
        JobEvent event = events.poll(20, TimeUnit.SECONDS);
        if (event instanceof JobEvent.RemoteFailureEvent failed) {
            return "failed " + failed.code();
        }
        return event instanceof JobEvent.StopSignalEvent one
                ? "signal " + one.name() + " " + one.times()
                : Objects.toString(event, null);
    }
}
