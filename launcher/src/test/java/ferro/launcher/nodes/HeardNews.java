package ferro.launcher.nodes;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Keeps what a launcher hears of the others. */
final class HeardNews implements NodeNews {
    final BlockingQueue<String> news = new LinkedBlockingQueue<>();

    static HeardNews begin(Nodes nodes) {
        HeardNews heard = new HeardNews();
        nodes.begin(heard);
        return heard;
    }

    @Override
    public void allJoined() {
        news.add("all joined");
    }

    @Override
    public void failedElsewhere(int code) {
        news.add("failed " + code);
    }

    @Override
    public void signalledElsewhere(String name, int times) {
        news.add("signal " + name + " " + times);
    }

    String next() throws InterruptedException {
        return news.poll(20, TimeUnit.SECONDS);
    }
}
