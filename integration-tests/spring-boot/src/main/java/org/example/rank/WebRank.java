package org.example.rank;

import io.netty.util.Version;
import java.io.IOException;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.web.context.WebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.function.client.WebClient;

/** A rank with a web server, which answers over Netty 4.1 before and after the rank has joined. */
@SpringBootApplication
@RestController
public class WebRank {
    public static void main(String[] arguments) throws IOException {
        try (ConfigurableApplicationContext program =
                SpringApplication.run(WebRank.class, "--server.port=0", "--server.address=127.0.0.1")) {
            int port = ((WebServerApplicationContext) program).getWebServer().getPort();
            WebClient client = WebClient.create("http://127.0.0.1:" + port);
            String before = ask(client);
            String joined = PlainRank.joined();
            System.out.println(joined + "; " + before + ", " + ask(client));
        }
    }

    private static String ask(WebClient client) {
        return client.get().uri("/netty").retrieve().bodyToMono(String.class).block();
    }

    @GetMapping("/netty")
    public String netty() {
        String thread = Thread.currentThread().getName().replaceFirst("-\\d+$", "");
        return "netty " + Version.identify().get("netty-common").artifactVersion() + " by " + thread;
    }
}
