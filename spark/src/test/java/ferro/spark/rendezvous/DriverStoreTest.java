package ferro.spark.rendezvous;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.spark.SharedSpark;
import ferro.spark.failure.RankFailure;
import ferro.spark.rendezvous.DriverStore.DriverAddress;
import ferro.spark.rendezvous.DriverStore.JobAttempt;
import ferro.spi.PortRange;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import java.util.Optional;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.junit.jupiter.api.Test;

/** Tests of stores of a driver whose application has no secret. */
class DriverStoreTest {
    private static final JobAttempt ATTEMPT = new JobAttempt("app", 0, 2);
    private final SparkContext spark = SharedSpark.context().sc();

    @Test
    void aStoreThatOtherMachinesCanReachNeedsASecret() throws Exception {
        InetAddress other = InetAddress.getByAddress(new byte[] {(byte) 192, 0, 2, 7});
        assertEquals(Optional.empty(), DriverStore.secret(ATTEMPT, InetAddress.getLoopbackAddress(), "a test serves"));

        IllegalArgumentException refusal =
                assertThrows(IllegalArgumentException.class, () -> DriverStore.secret(ATTEMPT, other, "the driver"));

        assertTrue(
                refusal.getMessage()
                        .startsWith(
                                "the driver cannot serve the store of job app.0 at 192.0.2.7 without a secret, because"
                                        + " other machines can reach this address: set spark.authenticate=true"),
                refusal.getMessage());
    }

    @Test
    void aClusterDriverListensAtTheAddressOfSpark() {
        SparkConf conf = new SparkConf(false).set("spark.driver.host", "driver.example");

        assertEquals(
                new DriverAddress("driver.example", "driver.example"), DriverAddress.of("spark://master:7077", conf));
        assertEquals(
                new DriverAddress("0.0.0.0", "driver.example"),
                DriverAddress.of("spark://master:7077", conf.set("spark.driver.bindAddress", "0.0.0.0")));
        assertEquals(new DriverAddress("127.0.0.1", "127.0.0.1"), DriverAddress.of("local[4,4]", conf));
    }

    @Test
    void theStoreListensInThePortRange() throws Exception {
        int first;
        try (ServerSocket taken = new ServerSocket(0)) {
            first = taken.getLocalPort();
        }
        int last = Math.min(first + 50, 65_535);

        try (DriverStore store = DriverStore.serve(spark, ATTEMPT, PortRange.of(first + "-" + last), report -> {})) {
            int port = store.rendezvous().port();
            assertTrue(port >= first && port <= last, port + " is not in " + first + "-" + last);
        }
    }

    @Test
    void onlyReportsOfTheLastAttemptAreKept() {
        RankFailure earlier = RankFailure.of(0, new IllegalStateException("earlier"), new byte[0]);
        RankFailure later = RankFailure.of(1, new IllegalStateException("later"), new byte[0]);
        try (DriverStore store = DriverStore.serve(spark, ATTEMPT, PortRange.of("0"), report -> {})) {
            store.add(0, earlier);
            store.add(1, later);
            store.add(0, earlier);

            assertEquals(List.of(later), store.failures());
        }
    }
}
