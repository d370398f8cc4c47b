package ferro.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.net.URI;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HostPortTest {
    @ParameterizedTest
    @CsvSource({
        "node0:29500,node0,29500",
        "host_with_underscore:29500,host_with_underscore,29500",
        "_a.b_c.example:1,_a.b_c.example,1",
        "3f2a9b81c0de:29500,3f2a9b81c0de,29500",
        "node.0a:7,node.0a,7",
        "h_1,h_1,-1",
        "Node-7.example.:65535,Node-7.example.,65535",
        "10.0.0.1:29500,10.0.0.1,29500",
        "10.0.0.1,10.0.0.1,-1",
        "[fd00::1]:29500,fd00::1,29500",
        "[::1],::1,-1"
    })
    void everyHostNameThatAResolverAcceptsIsParsed(String text, String host, int port) {
        HostPort read = new HostPort(host, port);
        assertEquals(Optional.of(read), HostPort.of(text));
        assertEquals(Optional.of(read), HostPort.of(URI.create("tcp://" + text)));
        assertEquals(text, read.toString());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                ":1",
                "h:",
                "h:x",
                "h:-1",
                "h:1:2",
                "h:123456",
                "::1",
                "[h]:1",
                "[::1",
                "a b:1",
                "u@h:1",
                "h/x",
                "tcp://h:1",
                "h,i:1",
                "h%20:1",
                "a..b:1",
                ".a:1",
                "10.0.0.256:1",
                "10.0.1:1",
                "h?q",
                "h#f"
            })
    void anyOtherTextIsNotAHostAndPort(String text) {
        assertEquals(Optional.empty(), HostPort.of(text));
    }
}
