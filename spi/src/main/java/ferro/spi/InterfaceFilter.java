package ferro.spi;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;

/**
 * The network interfaces of a machine that a job may use. The list has names ({@code eth0,ib0}) and networks
 * ({@code 10.0.0.0/8}, {@code fd00::/8}, or one address). If the list begins with {@code ^}, all interfaces except the
 * listed interfaces may be used ({@code ^docker0,lo}). A name must match in full. Link-local addresses of IPv6
 * ({@code fe80::}) and IPv4 (169.254.0.0/16) are used only if a network of the list is itself link-local. Immutable.
 */
public final class InterfaceFilter {
    /**
     * Pattern of an address: digits and dots, or hexadecimal digits with at least two colons. Text that matches is
     * never resolved as a host name.
     */
    private static final Pattern ADDRESS =
            Pattern.compile("[0-9]+(\\.[0-9]+){3}|[0-9a-fA-F]*:[0-9a-fA-F]*:[0-9a-fA-F:.]*");

    private static final int BYTE_BITS = Byte.SIZE;

    private final String text;
    private final boolean excluding;
    private final List<AllowedNetwork> entries;

    private InterfaceFilter(String text, boolean excluding, List<AllowedNetwork> entries) {
        this.text = text;
        this.excluding = excluding;
        this.entries = entries;
    }

    /** An entry of the list: an interface name, or a network prefix. */
    private record AllowedNetwork(String name, InetAddress network, int bits) {
        boolean matches(String interfaceName, InetAddress address) {
            return network == null ? name.equals(interfaceName) : holds(address);
        }

        private boolean holds(InetAddress address) {
            byte[] wanted = network.getAddress();
            byte[] found = address.getAddress();
            boolean same = wanted.length == found.length;
            for (int bit = 0; same && bit < bits; bit++) {
                int mask = 0x80 >> bit % BYTE_BITS;
                same = ((wanted[bit / BYTE_BITS] ^ found[bit / BYTE_BITS]) & mask) == 0;
            }
            return same;
        }
    }

    /**
     * Parses a list.
     *
     * @param text names and networks, separated by commas; a leading {@code ^} excludes all names and networks of the
     *     list
     * @return filter
     * @throws IllegalArgumentException if an entry is empty, a network is invalid, or {@code ^} is not at the start
     */
    public static InterfaceFilter of(String text) {
        boolean excluding = Objects.requireNonNull(text, "text").startsWith("^");
        List<AllowedNetwork> entries = Arrays.stream((excluding ? text.substring(1) : text).split(",", -1))
                .map(entry -> entry(entry.trim(), text))
                .toList();
        return new InterfaceFilter(text, excluding, entries);
    }

    private static AllowedNetwork entry(String text, String list) {
        if (text.isEmpty()) {
            throw new IllegalArgumentException("a name in \"" + list + "\" is empty");
        }
        if (text.startsWith("^")) {
            throw new IllegalArgumentException(
                    "^ is allowed once, at the start of a list of exclusions, found \"" + text + "\"");
        }
        int slash = text.indexOf('/');
        String address = slash < 0 ? text : text.substring(0, slash);
        if (!ADDRESS.matcher(address).matches()) {
            if (slash >= 0) {
                throw new IllegalArgumentException(
                        "a network must be an address, a slash and a number of bits, found " + text);
            }
            return new AllowedNetwork(text, null, 0);
        }
        try {
            InetAddress network = InetAddress.getByName(address);
            int most = network.getAddress().length * BYTE_BITS;
            int bits = slash < 0 ? most : Setting.count(text.substring(slash + 1));
            if (bits > most) {
                throw new IllegalArgumentException("a network has at most " + most + " bits, found " + text);
            }
            return new AllowedNetwork(text, network, bits);
        } catch (UnknownHostException nonsense) {
            throw new IllegalArgumentException("not an address: " + text, nonsense);
        }
    }

    /**
     * Returns the position in the list of the entry that allows an address.
     *
     * @param interfaceName name of the interface that has the address
     * @param address       address of this machine
     * @return position from 0; -1 if the address may not be used
     */
    public int place(String interfaceName, InetAddress address) {
        Objects.requireNonNull(interfaceName, "interfaceName");
        boolean ofOneLink = Objects.requireNonNull(address, "address").isLinkLocalAddress();
        for (int i = 0; i < entries.size(); i++) {
            AllowedNetwork entry = entries.get(i);
            boolean named = entry.network != null && entry.network.isLinkLocalAddress();
            if (entry.matches(interfaceName, address) && (excluding || !ofOneLink || named)) {
                return excluding ? -1 : i;
            }
        }
        return excluding && !ofOneLink ? 0 : -1;
    }

    /** {@return whether the list begins with {@code ^}, so that it names the interfaces that may not be used} */
    public boolean isExcluding() {
        return excluding;
    }

    /** {@return the list as the user wrote it} */
    @Override
    public String toString() {
        return text;
    }
}
