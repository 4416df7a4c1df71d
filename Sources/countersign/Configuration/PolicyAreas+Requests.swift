import Domain
import Foundation

extension PolicyArea {
    static var requests: PolicyArea {
        PolicyArea(
            name: "requests",
            fields: [
                .whole("maximum_body", \.requests.maximumBody, 16_384...1_048_576),
                .whole("maximum_headers", \.requests.maximumHeaders, 4096...131_072),
                .whole("maximum_header_count", \.requests.maximumHeaderCount, 16...256),
                .time("handshake_timeout", \.requests.handshakeTimeout, 1...120),
                .time("request_timeout", \.requests.requestTimeout, 1...600),
                .time("idle_timeout", \.requests.idleTimeout, 1...3600),
                .whole("maximum_connections", \.requests.maximumConnections, 1...1_000_000),
                .whole("connections_per_address", \.requests.connectionsPerSender.perAddress, 1...1_000_000),
                .whole("connections_per_56", \.requests.connectionsPerSender.per56, 1...1_000_000),
                .whole("connections_per_48", \.requests.connectionsPerSender.per48, 1...1_000_000),
                .whole("connections_per_certificate", \.requests.connectionsPerCertificate, 1...1_000_000),
                .whole("public_streams", \.requests.publicStreams, 1...1000),
                .whole("client_streams", \.requests.clientStreams, 1...1000),
                .time("answer_timeout", \.requests.answerTimeout, 1...600),
                .whole("maximum_unsent", \.requests.maximumUnsent, 16_384...16_777_216),
                .whole("unsent_per_certificate", \.requests.unsentPerCertificate, 65_536...1_073_741_824),
                .whole("unsent_per_user", \.requests.unsentPerUser, 65_536...1_073_741_824),
                .whole("unsent_total", \.requests.unsentTotal, 1_048_576...1_099_511_627_776),
                .whole("reads_per_minute", \.requests.readsPerMinute, 1...1_000_000),
                .whole("writes_per_minute", \.requests.writesPerMinute, 1...1_000_000),
                .whole("heavy_per_minute", \.requests.heavyPerMinute, 1...1_000_000),
                .whole("provider_factor", \.requests.providerFactor, 1...10_000),
                .whole("exports_per_hour", \.requests.exportsPerHour, 1...1000),
                .choice("client_tls", \.requests.clientTLS),
                .time("shutdown_timeout", \.requests.shutdownTimeout, 1...600),
                .networks("proxied_networks", \.requests.proxiedNetworks),
            ])
    }
}
