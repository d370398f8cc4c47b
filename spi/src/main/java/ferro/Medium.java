package ferro;

import java.util.HashSet;
import java.util.List;
import java.util.Objects;

/**
 * The medium that carries the data of a group. The ranks determine the medium when the group is created. The medium may
 * differ from the medium that settings request. All ranks of the group have the same medium. A group that is created
 * from this group may have another medium. Immutable.
 *
 * <pre>{@code
 * System.out.println(group.medium()); // TCP between hosts, shared memory within hosts
 * group.medium().addresses();      // [10.0.0.1, 10.0.0.1, 10.0.0.2, 10.0.0.2]
 * }</pre>
 *
 * @param text      description for people, such as {@code shared memory}, {@code TCP (loopback)}, {@code TCP between
 *     hosts, shared memory inside}; empty if the medium is unknown, or if the rank has no peer to send to
 * @param addresses for each rank, the address or host name by which other ranks reach the rank; empty if the medium has
 *     no addresses. Ranks on one host may have different addresses
 * @param far       whether a round trip between hosts took a millisecond or more when the job was joined. If true,
 *     algorithms with fewer steps are also used for larger operations
 */
public record Medium(String text, List<String> addresses, boolean far) {
    /** The medium of a back end without data about its medium. */
    public static final Medium UNKNOWN = new Medium("", List.of());

    /**
     * Creates a medium, with a copy of the addresses.
     *
     * @param text      description for people
     * @param addresses addresses of the ranks, by rank
     * @param far       whether a round trip between hosts takes a millisecond or more
     * @throws NullPointerException if an argument or an address is null
     */
    public Medium {
        Objects.requireNonNull(text, "text");
        addresses = List.copyOf(Objects.requireNonNull(addresses, "addresses"));
    }

    /**
     * Creates a medium whose round trips are short or unknown.
     *
     * @param text      description for people
     * @param addresses addresses of the ranks, by rank
     * @throws NullPointerException if an argument or an address is null
     */
    public Medium(String text, List<String> addresses) {
        this(text, addresses, false);
    }

    /**
     * Returns a copy of this medium with another text.
     *
     * @param other description for people
     * @return medium with the same addresses
     */
    public Medium with(String other) {
        return new Medium(Objects.requireNonNull(other, "other"), addresses, far);
    }

    /** {@return whether at least two addresses of ranks differ; false if the medium has no addresses} */
    public boolean hasSeveralAddresses() {
        return new HashSet<>(addresses).size() > 1;
    }

    /** Returns the text, or {@code an unknown medium} if the text is empty. */
    @Override
    public String toString() {
        return text.isEmpty() ? "an unknown medium" : text;
    }
}
