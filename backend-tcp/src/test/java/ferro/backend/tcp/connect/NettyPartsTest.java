package ferro.backend.tcp.connect;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class NettyPartsTest {
    @Test
    void partsOfDifferentVersionsAreNamedByVersion() {
        Map<String, String> parts = Map.of(
                "netty-common", "4.2.13.Final",
                "netty-buffer", "4.2.13.Final",
                "netty-transport", "4.2.18.Final");
        assertEquals(
                Optional.of(
                        "the parts of Netty on the class path are of different versions: 4.2.13.Final of netty-buffer,"
                                + " netty-common; 4.2.18.Final of netty-transport: give all of them one version, in Maven by"
                                + " importing io.netty:netty-bom"),
                NettyParts.mixed(parts));
    }

    @Test
    void partsThatFerroDoesNotUseMayHaveVersionsOfTheirOwn() {
        Map<String, String> parts = Map.of(
                "netty-common", "4.2.18.Final",
                "netty-transport", "4.2.18.Final",
                "netty-tcnative-classes", "2.0.74.Final");
        assertEquals(Optional.empty(), NettyParts.mixed(parts));
    }

    @Test
    void thePartsOfThisBuildAreOfOneVersion() {
        assertEquals(Optional.empty(), NettyParts.mixed());
    }
}
