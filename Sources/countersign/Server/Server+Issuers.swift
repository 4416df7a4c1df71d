import Domain
import Logging
import Operations

/// The loop that fetches the key sets of issuers before sign-ins need them.
extension Server {
    func issuersLoop() -> @Sendable () async -> Void {
        let refresh = RefreshIssuers(service)
        return { [logger] in
            await refresh.run(
                onChange: { issuer, failure in
                    guard let failure else {
                        return logger.notice(
                            "an issuer's keys can be fetched again", metadata: ["issuer": .string(issuer)])
                    }
                    logger.warning(
                        "an issuer's keys cannot be fetched: the cached keys expire after 24 hours",
                        metadata: ["issuer": .string(issuer), "cause": .string(failure)])
                },
                onFailure: {
                    logger.error(
                        "the issuers cannot be read from the store",
                        metadata: ["cause": .string(ErrorWords.of($0))])
                })
        }
    }
}
