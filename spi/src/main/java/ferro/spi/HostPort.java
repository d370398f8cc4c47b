package ferro.spi;

import java.net.URI;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A host and a port in the usual notation: {@code node_0:29500}, {@code 10.0.0.1}, {@code [fd00::1]:29500}. This class
 * accepts every name that a resolver accepts. {@link URI} accepts fewer names, and rejects a name with an underscore,
 * and a name of several parts whose last part begins with a digit.
 *
 * @param host name or address, without brackets
 * @param port port number; -1 for no port
 */
public record HostPort(String host, int port) {
    private static final Pattern NAMED = Pattern.compile("([\\w-]+(?:\\.[\\w-]+)*\\.?)(?::(\\d{1,5}))?");
    private static final Pattern NUMBERS = Pattern.compile("\\d+(\\.\\d+)+");
    private static final int BYTES = 4;
    private static final int MOST_OF_A_BYTE = 255;

    /**
     * Creates a pair of a host and a port.
     *
     * @param host name or address, without brackets; not null
     * @param port port number; -1 for no port
     */
    public HostPort {
        Objects.requireNonNull(host, "host");
    }

    /**
     * Parses a text.
     *
     * @param text host, with or without a port
     * @return host and port; empty if the text is not a host with or without a port
     */
    public static Optional<HostPort> of(String text) {
        try {
            URI address = URI.create("tcp://" + Objects.requireNonNull(text, "text"));
            return text.equals(address.getRawAuthority()) ? of(address) : Optional.empty();
        } catch (IllegalArgumentException unreadable) {
            return Optional.empty();
        }
    }

    /**
     * Parses the host and port of a URI.
     *
     * @param address address of any scheme
     * @return host and port; empty if the authority of the URI is not a host with or without a port
     */
    public static Optional<HostPort> of(URI address) {
        String authority = Objects.requireNonNull(address, "address").getRawAuthority();
        if (authority == null) {
            return Optional.empty();
        }
        if (authority.startsWith("[")) {
            // URI has checked that the text in brackets is an address
            String host = address.getHost();
            return Optional.of(new HostPort(host.substring(1, host.length() - 1), address.getPort()));
        }
        Matcher named = NAMED.matcher(authority);
        if (!named.matches() || NUMBERS.matcher(named.group(1)).matches() && !isAddress(named.group(1))) {
            return Optional.empty();
        }
        String port = named.group(2);
        return Optional.of(new HostPort(named.group(1), port == null ? -1 : Integer.parseInt(port)));
    }

    private static boolean isAddress(String numbers) {
        String[] bytes = numbers.split("\\.");
        return bytes.length == BYTES
                && Arrays.stream(bytes)
                        .allMatch(each -> each.length() <= 3 && Integer.parseInt(each) <= MOST_OF_A_BYTE);
    }

    /** {@return the host and the port in the usual notation, with an IPv6 address in brackets} */
    @Override
    public String toString() {
        return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + (port < 0 ? "" : ":" + port);
    }
}
