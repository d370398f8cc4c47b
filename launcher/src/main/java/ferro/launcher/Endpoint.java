package ferro.launcher;

/**
 * A host and a port.
 *
 * @param host name or address, without brackets
 * @param port 1 to 65535, or 0 for any free one
 */
record Endpoint(String host, int port) {
    /** Any free port on loopback: the place of the store of a job on one host. */
    static final Endpoint LOOPBACK = new Endpoint("127.0.0.1", 0);

    /** Reads {@code host:port} or {@code [address]:port}. */
    static Endpoint parse(String option, String text) {
        int colon = text.lastIndexOf(':');
        String host = colon < 0 ? "" : text.substring(0, colon);
        if (host.startsWith("[") && host.endsWith("]")) {
            host = host.substring(1, host.length() - 1);
        } else if (host.contains(":")) {
            throw new BadInputException(
                    option + " " + text + ": an IPv6 address stands in brackets, [" + host + "]:port");
        }
        if (host.isBlank()) {
            throw new BadInputException(option + " " + text + ": need host:port, for example node0:29500");
        }
        return new Endpoint(host, port(option, text, text.substring(colon + 1)));
    }

    private static int port(String option, String text, String digits) {
        try {
            int port = Integer.parseInt(digits);
            if (port >= 1 && port <= 65535) {
                return port;
            }
        } catch (NumberFormatException notANumber) {
            throw new BadInputException(option + " " + text + ": \"" + digits + "\" is no port", notANumber);
        }
        throw new BadInputException(option + " " + text + ": a port is 1 to 65535");
    }

    /** Whether loopback was typed, and not a name that stands for it. */
    boolean namesLoopback() {
        return host.equalsIgnoreCase("localhost") || host.contains(":") || host.startsWith("127.");
    }

    @Override
    public String toString() {
        return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
    }
}
