import Domain
import Logging
import Operations

/// The part of the server that reads the key sets of issuers before sign-ins need them.
extension Server {
    func issuersLoop() -> @Sendable () async -> Void {
        let refresh = RefreshIssuers(context)
        return { [logger] in
            await refresh.run(
                onChange: { issuer, failure in
                    guard let failure else {
                        return logger.notice("an issuer can be read again", metadata: ["issuer": .string(issuer)])
                    }
                    logger.warning(
                        "an issuer cannot be read: its known keys serve for a day",
                        metadata: ["issuer": .string(issuer), "cause": .string(failure)])
                },
                onFailure: {
                    logger.error(
                        "the store did not say which issuers are to be read",
                        metadata: ["cause": .string(ErrorWords.of($0))])
                })
        }
    }
}
