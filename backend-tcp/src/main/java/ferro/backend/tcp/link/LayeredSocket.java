package ferro.backend.tcp.link;

import io.netty.channel.Channel;
import java.io.IOException;

/** A data connection over another data connection. Subclasses only change the bytes that are written and read. */
public abstract class LayeredSocket implements DataSocket {
    /** The connection that this connection uses. */
    final DataSocket inner;

    LayeredSocket(DataSocket inner) {
        this.inner = inner;
    }

    @Override
    public boolean ended() throws IOException {
        return inner.ended();
    }

    @Override
    public boolean readable() {
        return inner.readable();
    }

    @Override
    public boolean writable() {
        return inner.writable();
    }

    @Override
    public void want(boolean reading, boolean writing) {
        inner.want(reading, writing);
    }

    @Override
    public boolean isAtByteLimit() {
        return inner.isAtByteLimit();
    }

    @Override
    public void endOutput() throws IOException {
        inner.endOutput();
    }

    @Override
    public void close() {
        inner.close();
    }

    @Override
    public Channel release() {
        return inner.release();
    }
}
