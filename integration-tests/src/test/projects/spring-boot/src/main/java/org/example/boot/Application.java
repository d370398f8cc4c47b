package org.example.boot;

import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import io.netty.channel.ChannelOption;
import java.util.Arrays;
import org.springframework.boot.CommandLineRunner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** Sums the gradients of all ranks, inside Spring Boot. */
@SpringBootApplication
public class Application implements CommandLineRunner {
    public static void main(String[] args) {
        SpringApplication.run(Application.class, args);
    }

    @Override
    public void run(String... args) {
        System.out.println("netty " + ChannelOption.class.getPackage().getImplementationVersion() + " in "
                + ChannelOption.class.getProtectionDomain().getCodeSource().getLocation());
        try (ProcessGroup group = ProcessGroup.join()) {
            float[] gradient = {group.rank() + 1f, 10f * (group.rank() + 1)};
            group.allReduce(gradient, ReduceOp.SUM);
            System.out.println(
                    "rank " + group.rank() + " of " + group.worldSize() + " has " + Arrays.toString(gradient));
        }
    }
}
