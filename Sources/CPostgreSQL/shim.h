#pragma once
#include <libpq-fe.h>
#include <openssl/ssl.h>

/// The five characters of the SQLSTATE; NULL where the failure did not come from the server.
static inline const char *CPostgreSQL_state(const PGresult *result) {
    return PQresultErrorField(result, PG_DIAG_SQLSTATE);
}

/// The server's own sentence, without detail, hint and context: these repeat values of rows.
static inline const char *CPostgreSQL_sentence(const PGresult *result) {
    return PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
}

/// The schema of the table that a constraint belongs to; NULL for other failures.
static inline const char *CPostgreSQL_schema(const PGresult *result) {
    return PQresultErrorField(result, PG_DIAG_SCHEMA_NAME);
}

/// How many bytes OpenSSL has taken from the socket and libpq has not: a poll of the socket does not see them.
static inline int CPostgreSQL_pending(PGconn *connection) {
    SSL *ssl = (SSL *)PQsslStruct(connection, "OpenSSL");
    return ssl ? SSL_pending(ssl) : 0;
}
