package ferro.backend.tcp.mesh;

import ferro.FerroException;
import io.netty.channel.Channel;
import java.nio.ByteBuffer;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Keeps the events of a mesh. */
final class Recorder implements Ranks.Hears {
    final BlockingQueue<Heard> heard = new LinkedBlockingQueue<>();

    record Heard(String kind, int peer, String text, FerroException cause, Channel channel, long nanos) {}

    Heard next() {
        try {
            Heard next = heard.poll(20, TimeUnit.SECONDS);
            if (next == null) {
                throw new AssertionError("nothing was heard within 20 s");
            }
            return next;
        } catch (InterruptedException interrupted) {
            throw new AssertionError("interrupted while listening", interrupted);
        }
    }

    @Override
    public void control(int peer, ByteBuffer message) {
        byte[] bytes = new byte[message.remaining()];
        message.get(bytes);
        add("control", peer, new String(bytes), null, null);
    }

    @Override
    public void cutOff(int peer, FerroException cause) {
        // what follows counts
    }

    @Override
    public void lost(int peer, FerroException cause) {
        add("lost", peer, cause.getMessage(), cause, null);
    }

    @Override
    public void data(int peer, ConnectionPurpose lane, int epoch, Channel channel) {
        add("data", peer, lane + " " + epoch, null, channel);
    }

    @Override
    public void noData(int peer, ConnectionPurpose lane, FerroException cause) {
        add("noData", peer, lane + " " + cause.getMessage(), cause, null);
    }

    private void add(String kind, int peer, String text, FerroException cause, Channel channel) {
        heard.add(new Heard(kind, peer, text, cause, channel, System.nanoTime()));
    }
}
