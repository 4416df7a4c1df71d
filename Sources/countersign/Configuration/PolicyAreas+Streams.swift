import Domain
import Encoding

extension PolicyArea {
    static var streams: PolicyArea {
        PolicyArea(
            name: "streams",
            fields: [
                .choice("conversation_requires", \.streams.conversationRequires),
                .choice("members", \.streams.members),
                .choice("required_level", \.streams.requiredLevel, among: Assurance.allCases),
                .whole("streams_per_user", \.streams.streamsPerUser, 1...1_000_000),
                .whole("writes_per_minute", \.streams.writesPerMinute, 1...100_000),
                .whole("reads_per_minute", \.streams.readsPerMinute, 1...100_000),
                .whole("stored_bytes", \.streams.storedBytes, 65_536...1_073_741_824),
                .time("undelivered_messages", \.streams.undeliveredMessages, 86_400...31_536_000),
                .time("poll_wait", \.streams.pollWait, 1...60),
                .whole("waiting_polls", \.streams.waitingPolls, 1...1000),
                .whole("notifications_per_minute", \.streams.notificationsPerMinute, 1...10_000),
                .whole("notifications_per_provider", \.streams.notificationsPerProvider, 1...10_000_000),
                .texts(
                    "indexed_metadata", \.streams.indexedMetadata, upTo: MessageStreamPolicy.maximumIndexedMetadata,
                    expected: "a list of at most 8 names of letters, digits and -._~, each once,",
                    where: MessageStreamPolicy.isIndexable),
                .choice("presence", \.streams.presence),
            ])
    }

    static var addresses: PolicyArea {
        PolicyArea(
            name: "addresses",
            fields: [
                .choice("required_level", \.addresses.requiredLevel, among: Assurance.allCases),
                .whole("resolves_per_hour", \.addresses.resolvesPerHour, 1...100_000),
                .whole("changes_per_hour", \.addresses.changesPerHour, 1...100_000),
                .whole("evaluations_per_day", \.addresses.evaluationsPerDay, 64...2000),
                .whole("downloads_per_hour", \.addresses.downloadsPerHour, 1...100_000),
            ])
    }

    static var wallet: PolicyArea {
        PolicyArea(
            name: "wallet",
            fields: [
                .flag("enabled", \.wallet.enabled),
                .time("lifetime", \.wallet.lifetime, 60...3600),
                .choices("channels", \.wallet.channels),
                .choice("client_id", \.wallet.clientID),
                .choices("formats", \.wallet.formats),
                .choice("status", \.wallet.status),
                .choice("status_unknown", \.wallet.statusUnknown),
                .whole("age_proofs_per_credential", \.wallet.ageProofsPerCredential, 0...100),
                .whole("openings_per_hour", \.wallet.openingsPerHour, 1...1000),
                .text(
                    "vical_url", \.wallet.vicalURL, expected: "\"\" or an https URL of a public host",
                    where: { $0.isEmpty || PublicURL($0, allowingLoopback: true) != nil }),
                .time("trust_grace", \.wallet.trustGrace, 0...(60 * 86_400)),
            ])
    }

    static var calls: PolicyArea {
        PolicyArea(
            name: "calls",
            fields: [
                .time("ringing", \.calls.ringing, 5...600),
                .texts(
                    "stun_urls", \.calls.stunURLs,
                    expected: "a list of URLs such as stun:stun.example:3478, each once,",
                    where: { CallPolicy.isServer($0, schemes: ["stun", "stuns"]) }),
                .texts(
                    "turn_urls", \.calls.turnURLs,
                    expected: "a list of URLs such as turn:turn.example:3478?transport=udp, each once,",
                    where: { CallPolicy.isServer($0, schemes: ["turn", "turns"]) }),
                fileName("turn_secret_file", \.calls.turnSecretFile),
                .time("turn_lifetime", \.calls.turnLifetime, 60...86_400),
                .whole("credentials_per_hour", \.calls.credentialsPerHour, 1...100_000),
            ])
    }
}
