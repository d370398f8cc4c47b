package ferro.job;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * A factory of rendezvous points. Values set by hand take precedence over the values of a launcher.
 *
 * @param variables may contain {@code MASTER_ADDR}, {@code MASTER_PORT} and {@code FERRO_JOB_ID}
 */
record RendezvousPointFactory(LauncherVariables variables) {
    static final String JOB_ID = "FERRO_JOB_ID";

    private static final String HOST = "MASTER_ADDR";
    private static final String PORT = "MASTER_PORT";
    private static final int MOST_PORT = 65535;
    private static final int HASH_BYTES = 8;
    private static final int MOST_KEY = 64;

    /** Returns the rendezvous point of ranks if the address is set by hand. */
    RendezvousPoint named(Optional<String> key, boolean allLocal) {
        return at(key, allLocal, Optional.empty(), OptionalInt.empty());
    }

    /**
     * Returns the rendezvous point that the launcher gives.
     *
     * @param key      name of this start of the job, or empty
     * @param allLocal whether all ranks are on this host according to the variables
     * @param host     host of rank 0, if the launcher gives it
     * @param port     port that the ranks use if no port is set
     */
    RendezvousPoint at(Optional<String> key, boolean allLocal, Optional<String> host, OptionalInt port) {
        Optional<String> set = variables.find(HOST);
        Optional<String> name = key(key);
        OptionalInt named = port();
        return new RendezvousPoint(
                name,
                allLocal,
                set.isPresent() ? Optional.of(host(set.get())) : host,
                named.isPresent() ? named : port,
                Optional.empty());
    }

    RendezvousPoint without(Optional<String> key, boolean allLocal, String noHost) {
        RendezvousPoint named = at(key, allLocal, Optional.empty(), OptionalInt.empty());
        Optional<String> why = named.host().isPresent() ? Optional.empty() : Optional.of(noHost);
        return new RendezvousPoint(named.key(), named.allLocal(), named.host(), named.port(), why);
    }

    /** Returns a short name that does not reveal its source text. */
    static String hashed(String launcher, String what) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(what.getBytes(StandardCharsets.UTF_8));
            return launcher + "-" + HexFormat.of().formatHex(hash, 0, HASH_BYTES);
        } catch (NoSuchAlgorithmException everyJdkHasIt) {
            throw new IllegalStateException("this JDK has no SHA-256", everyJdkHasIt);
        }
    }

    /**
     * Returns an address without brackets. An address with a port is rejected, because the port has a separate
     * variable.
     */
    private static String host(String text) {
        if (text.startsWith("[") && text.endsWith("]")) {
            return text.substring(1, text.length() - 1);
        }
        boolean withPort =
                text.indexOf(':') >= 0 && (text.startsWith("[") || text.indexOf(':') == text.lastIndexOf(':'));
        if (withPort) {
            throw new IllegalArgumentException(
                    HOST + "=" + text + ": need a host name or an address alone; the port goes into " + PORT);
        }
        return text;
    }

    private OptionalInt port() {
        OptionalInt port = variables.numberIfAny(PORT, 1, "a port from 1 to " + MOST_PORT);
        if (port.isPresent() && port.getAsInt() > MOST_PORT) {
            throw new IllegalArgumentException(PORT + "=" + port.getAsInt() + ": need a port from 1 to " + MOST_PORT);
        }
        return port;
    }

    private Optional<String> key(Optional<String> ofLauncher) {
        Optional<String> set = variables.find(JOB_ID);
        Optional<String> key = set.isPresent() ? set : ofLauncher;
        return key.isPresent() ? Optional.of(asName(key.get())) : key;
    }

    private static String asName(String text) {
        boolean plain = text.matches("[A-Za-z0-9_][A-Za-z0-9._-]*") && text.length() <= MOST_KEY;
        return plain ? text : hashed("job", text);
    }
}
