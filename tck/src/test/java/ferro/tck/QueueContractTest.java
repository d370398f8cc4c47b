package ferro.tck;

import org.junit.jupiter.api.Tag;

/** An honest back end of five methods keeps the contract, with the refusals that a plain one declares. */
@Tag("long")
class QueueContractTest extends Kit {
    QueueContractTest() {
        super(Subject.of(QueueHub::group));
    }
}
