package ferro.backend.tcp.connect;

import io.netty.util.Version;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The versions of Netty's parts on the class path. A build that names a part of Netty for another library may mix two
 * versions, which is found late and by chance otherwise.
 */
public final class NettyParts {
    /** The parts that ferro uses; others, such as the natives of TLS, may have versions of their own. */
    private static final Set<String> USED = Set.of(
            "netty-buffer",
            "netty-codec-base",
            "netty-common",
            "netty-handler",
            "netty-resolver",
            "netty-transport",
            "netty-transport-classes-epoll",
            "netty-transport-native-epoll",
            "netty-transport-native-unix-common");

    private NettyParts() {}

    /** Returns what is wrong with the parts that this process has loaded; empty if all have one version. */
    public static Optional<String> mixed() {
        Map<String, String> found = new TreeMap<>();
        Version.identify(NettyParts.class.getClassLoader())
                .forEach((part, version) -> found.put(part, version.artifactVersion()));
        return mixed(found);
    }

    /** Returns what is wrong with these versions, by part; empty if all parts that ferro uses have one version. */
    static Optional<String> mixed(Map<String, String> versionByPart) {
        Map<String, Set<String>> parts = new TreeMap<>();
        versionByPart.forEach((part, version) -> {
            if (USED.contains(part)) {
                parts.computeIfAbsent(version, none -> new TreeSet<>()).add(part);
            }
        });
        if (parts.size() < 2) {
            return Optional.empty();
        }
        return Optional.of("the parts of Netty on the class path are of different versions: "
                + parts.entrySet().stream()
                        .map(one -> one.getKey() + " of " + String.join(", ", one.getValue()))
                        .collect(Collectors.joining("; "))
                + ": give all of them one version, in Maven by importing io.netty:netty-bom");
    }
}
