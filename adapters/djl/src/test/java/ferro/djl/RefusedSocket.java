package ferro.djl;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketImpl;

/** A socket that prints the address of each requested connection and refuses to connect. */
final class RefusedSocket extends SocketImpl {
    @Override
    protected void create(boolean stream) {}

    @Override
    protected void connect(String host, int port) throws IOException {
        refuse(host + ":" + port);
    }

    @Override
    protected void connect(InetAddress address, int port) throws IOException {
        refuse(address.getHostAddress() + ":" + port);
    }

    @Override
    protected void connect(SocketAddress address, int timeoutMillis) throws IOException {
        InetSocketAddress to = (InetSocketAddress) address;
        refuse(to.getHostString() + ":" + to.getPort());
    }

    private static void refuse(String address) throws ConnectException {
        System.out.println("connect " + address);
        throw new ConnectException("refused by the test: " + address);
    }

    @Override
    protected void bind(InetAddress host, int port) {}

    @Override
    protected void listen(int backlog) throws IOException {
        throw new SocketException("no listening on this socket, found a backlog of " + backlog);
    }

    @Override
    protected void accept(SocketImpl accepted) throws IOException {
        throw new SocketException("nothing to accept by " + accepted);
    }

    @Override
    protected InputStream getInputStream() {
        return InputStream.nullInputStream();
    }

    @Override
    protected OutputStream getOutputStream() {
        return OutputStream.nullOutputStream();
    }

    @Override
    protected int available() {
        return 0;
    }

    @Override
    protected void close() {}

    @Override
    protected void sendUrgentData(int data) {}

    @Override
    public void setOption(int option, Object value) {}

    @Override
    public Object getOption(int option) {
        return 0;
    }
}
