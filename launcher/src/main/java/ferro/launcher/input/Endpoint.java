package ferro.launcher.input;

import com.google.common.net.HostAndPort;
import com.google.common.net.InetAddresses;

/**
 * A host and a port.
 *
 * @param host name or address, without brackets
 * @param port 1 to 65535, or 0 for any free port
 */
public record Endpoint(String host, int port) {
    /** An endpoint for any free port on loopback, for the store of a job on one host. */
    public static final Endpoint LOOPBACK = new Endpoint("127.0.0.1", 0);

    /** Reads {@code host:port} or {@code [address]:port}. */
    public static Endpoint parse(String option, String text) {
        HostAndPort read = read(option, text);
        if (!text.startsWith("[") && read.getHost().contains(":")) {
            throw new BadInputException(
                    option + " " + text + ": an IPv6 address must be in brackets, [" + read.getHost() + "]:port");
        }
        if (read.getHost().contains(":") && !isAddress(withoutScope(read.getHost()))) {
            throw new BadInputException(
                    option + " " + text + ": need an IPv6 address in the brackets, for example [fd00::1]:29500");
        }
        if (read.getHost().isBlank() || !read.hasPort()) {
            throw new BadInputException(option + " " + text + ": need host:port, for example node0:29500");
        }
        if (read.getPort() == 0) {
            throw new BadInputException(option + " " + text + ": a port is 1 to 65535");
        }
        return new Endpoint(read.getHost(), read.getPort());
    }

    private static HostAndPort read(String option, String text) {
        try {
            return HostAndPort.fromString(text);
        } catch (IllegalArgumentException misread) {
            throw new BadInputException(
                    option + " " + text + ": need host:port with a port of 1 to 65535, for example node0:29500",
                    misread);
        }
    }

    /** Returns an address without its scope (after {@code %}), which may name an interface of another machine. */
    private static String withoutScope(String host) {
        return host.replaceFirst("%[^:%]+$", "");
    }

    private static boolean isAddress(String host) {
        return host.indexOf('%') < 0 && InetAddresses.isInetAddress(host);
    }

    @Override
    public String toString() {
        return HostAndPort.fromParts(host, port).toString();
    }
}
