package ferro.launcher.doctor;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class NcclVariableSetterTest {
    private static final String SETTING = "FERRO_TCP_INTERFACE";

    @Test
    void matchingInterfacesAreSetForNcclUnlessItsVariableIsSet() {
        assertEquals("=lo", told(Map.of(SETTING, "127.0.0.0/8"), Map.of()));
        assertEquals("=lo", told(Map.of(SETTING, "nothing7"), Map.of("ferro.tcp.interface", "lo")));
        assertEquals("ib", told(Map.of(SETTING, "lo", "NCCL_SOCKET_IFNAME", "ib"), Map.of()));
        assertEquals(null, told(Map.of(SETTING, "nothing7"), Map.of()));
        assertEquals(null, told(Map.of(SETTING, "lo,,"), Map.of()));
        assertEquals(null, told(Map.of(), Map.of()));
        assertEquals("=ib0,ib1", NcclVariableSetter.value(List.of("ib0", "ib1")));
    }

    private static String told(Map<String, String> environment, Map<String, String> properties) {
        return NcclVariableSetter.addedTo(environment, properties).get("NCCL_SOCKET_IFNAME");
    }
}
