// Database
